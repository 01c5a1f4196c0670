<?php
// A provider of tokens and statements: server.php FOLDER PORT [--fault NAME]. One process for each
// connection.

declare(strict_types=1);

require __DIR__ . '/state.php';
require __DIR__ . '/token.php';
require __DIR__ . '/statement.php';

const MAX_BODY_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;
const REASONS = [
    200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 403 => 'Forbidden', 404 => 'Not Found',
    405 => 'Method Not Allowed', 408 => 'Request Timeout', 413 => 'Content Too Large', 415 => 'Unsupported Media Type',
    429 => 'Too Many Requests', 431 => 'Request Header Fields Too Large', 500 => 'Internal Server Error',
    503 => 'Service Unavailable',
];

[$folder, $port] = [$argv[1] ?? null, $argv[2] ?? exit("usage: server.php FOLDER PORT [--fault NAME]\n")];
define('FAULT', ($argv[3] ?? '') === '--fault' ? $argv[4] : '');
define('LIMITS', json_decode(file_get_contents("$folder/limits.json"), true, 4, JSON_THROW_ON_ERROR));
$known = array_map(fn ($line) => explode("\t", $line)[0], file(__DIR__ . '/faults.tsv'));
if (FAULT !== '' && !in_array(FAULT, $known, true)) {
    fwrite(STDERR, 'no fault is named ' . FAULT . "\n");
    exit(2);
}

function broken(string $fault): bool
{
    return FAULT === $fault;
}

function uuid(): string
{
    $bytes = random_bytes(16);
    $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
    return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
}

/** Returns status, headers and body of the answer to a request. */
function answer(string $folder, string $method, string $path, array $headers, string $body): array
{
    $requestKey = uuid();
    $work = match ($path) {
        '/v1.0/auth' => fn (State $state) => issue_token($state, $headers, $body),
        '/accounts/v2.0/statement' => fn (State $state) => answer_statement($state, $headers, $body, $requestKey),
        '/order/book' => fn (State $state) => book($state, $body),
        '/order/clock' => function (State $state) use ($body) {
            $state->data['stepped'] += (int) (json_decode($body, true)['seconds'] ?? 0);
            return [200, [], '{}'];
        },
        default => null,
    };
    $answer = match (true) {
        $work === null => statement_refusal(404, 'EC000004', 'nothing is here', $requestKey),
        $method !== 'POST' => statement_refusal(405, 'EC000005', 'expected POST', $requestKey),
        default => State::with($folder, $work),
    };
    if ($answer[0] === 405) {
        $answer[1]['Allow'] = 'POST';
    }
    if ($path !== '/v1.0/auth' || !broken('token-no-request-key')) {
        $answer[1]['X-RequestKey'] = $requestKey;
    }
    return $answer;
}

/** Reads one request, or returns null at the end of the connection, or the status of a refusal. */
function read_request($stream): array|int|null
{
    $line = stream_get_line($stream, MAX_HEADER_BYTES, "\r\n");
    if ($line === false || $line === '') {
        return null;
    }
    if (!preg_match('~\A([A-Z]+) (/[!-\~]*) HTTP/1\.[01]\z~', $line, $start)) {
        return 400;
    }
    $headers = [];
    $size = 0;
    while (($field = stream_get_line($stream, MAX_HEADER_BYTES, "\r\n")) !== '') {
        if ($field === false) {
            return null;
        }
        $size += strlen($field);
        if ($size > MAX_HEADER_BYTES) {
            return 431;
        }
        if (!preg_match('/\A([!-9;-~]+):[ \t]*(.*?)[ \t]*\z/', $field, $found)) {
            return 400;
        }
        $name = strtolower($found[1]);
        if (isset($headers[$name]) && in_array($name, ['authorization', 'apikey', 'content-length'], true)) {
            return 400;
        }
        $headers[$name] = $found[2];
    }
    if (strcasecmp($headers['expect'] ?? '', '100-continue') === 0) {
        fwrite($stream, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    $body = '';
    if (strcasecmp($headers['transfer-encoding'] ?? '', 'chunked') === 0) {
        do {
            $chunk = stream_get_line($stream, 1024, "\r\n");
            if ($chunk === false || !preg_match('/\A[0-9a-fA-F]{1,7}/', $chunk, $found)) {
                return 400;
            }
            $size = hexdec($found[0]);
            if (strlen($body) + $size > MAX_BODY_BYTES) {
                return 413;
            }
            $body .= $size > 0 ? stream_get_contents($stream, $size) : '';
            stream_get_line($stream, 1024, "\r\n");
        } while ($size > 0);
    } else {
        $length = $headers['content-length'] ?? '0';
        if (!preg_match('/\A[0-9]{1,12}\z/', $length)) {
            return 400;
        }
        if ((int) $length > MAX_BODY_BYTES) {
            return 413;
        }
        $body = (int) $length > 0 ? stream_get_contents($stream, (int) $length) : '';
        if (strlen($body) < (int) $length) {
            return null;
        }
    }
    return [$start[1], explode('?', $start[2])[0], $headers, $body];
}

function serve($stream, string $folder): void
{
    stream_set_timeout($stream, 30);
    do {
        $request = read_request($stream);
        if ($request === null) {
            return;
        }
        $stays = is_array($request) && strcasecmp($request[2]['connection'] ?? '', 'close') !== 0;
        try {
            [$status, $headers, $body] = is_int($request)
                ? statement_refusal($request, 'EC000003', 'the request is malformed', uuid())
                : answer($folder, ...$request);
        } catch (Throwable $failure) {
            fwrite(STDERR, "$failure\n");
            [$status, $headers, $body] = statement_refusal(500, 'EC20005', 'the provider failed', uuid());
        }
        $headers += ['Date' => gmdate('D, d M Y H:i:s') . ' GMT', 'Content-Type' => 'application/json',
            'Content-Length' => (string) strlen($body), 'Connection' => $stays ? 'keep-alive' : 'close'];
        $head = "HTTP/1.1 $status " . REASONS[$status] . "\r\n";
        foreach ($headers as $name => $value) {
            $head .= "$name: $value\r\n";
        }
        $bytes = "$head\r\n" . (is_array($request) && $request[0] === 'HEAD' ? '' : $body);
        while ($bytes !== '') {
            $written = fwrite($stream, $bytes);
            if ($written === false || $written === 0) {
                return;
            }
            $bytes = substr($bytes, $written);
        }
    } while ($stays);
}

$context = stream_context_create(['ssl' => ['local_cert' => "$folder/server.pem", 'local_pk' => "$folder/server-key.pem"]]);
$listener = stream_socket_server("tcp://127.0.0.1:$port", $error, $reason, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
if ($listener === false) {
    fwrite(STDERR, "cannot listen on port $port: $reason\n");
    exit(2);
}
echo "ready: https://localhost:$port\n";
pcntl_signal(SIGCHLD, SIG_IGN);
while (true) {
    $stream = @stream_socket_accept($listener, 3600);
    if ($stream === false) {
        continue;
    }
    $child = pcntl_fork();
    if ($child === 0) {
        fclose($listener);
        stream_set_timeout($stream, 10);
        if (@stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_SERVER)) {
            serve($stream, $folder);
        }
        fclose($stream);
        exit(0);
    }
    fclose($stream);
}
