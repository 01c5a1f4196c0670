<?php
// The token endpoint: OAuth 2.0 client credentials with a signed assertion.

const SCOPES = [
    'GBL.INSTO.ACCOUNTS.STATEMENT.READ',
    'AU.INSTO.PAYTO.MANDATE.READ',
    'AU.INSTO.PAYTO.MANDATE.WRITE',
    'AU.INSTO.PAYTO.MPIR.WRITE',
];
const TOKEN_SECONDS = 3600;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

function token_refusal(int $status, string $error, string $description): array
{
    $more = ['Cache-Control' => 'no-store', 'Pragma' => 'no-cache'];
    return [$status, $more, json_encode(['error' => $error, 'error_description' => $description])];
}

function issue_token(State $state, array $headers, string $body): array
{
    $customer = $state->customerOfKey($headers['apikey'] ?? '');
    if ($customer === null && !(broken('token-key-optional') && !isset($headers['apikey']))) {
        return token_refusal(401, 'invalid_client', 'the API key is missing or unknown');
    }
    $limits = [3_600_000 => LIMITS['tokens_per_hour'], 1000 => LIMITS['tokens_per_second']];
    if (broken('token-second-unlimited')) {
        unset($limits[1000]);
    }
    $wait = $state->count('token ' . ($customer ?? ''), $limits);
    if ($wait > 0) {
        $refusal = token_refusal(broken('limit-503') ? 503 : 429, 'temporarily_unavailable', 'the rate limit is exceeded');
        $refusal[1]['Retry-After'] = (string) $wait;
        return $refusal;
    }
    $type = strtolower(trim(explode(';', $headers['content-type'] ?? '')[0]));
    if ($type !== 'application/x-www-form-urlencoded') {
        return token_refusal(400, 'invalid_request', 'expected application/x-www-form-urlencoded');
    }
    $fields = [];
    foreach (array_filter(explode('&', $body), 'strlen') as $pair) {
        [$name, $value] = array_map('urldecode', explode('=', $pair, 2) + [1 => '']);
        if (isset($fields[$name])) {
            return token_refusal(400, 'invalid_request', 'a field is repeated');
        }
        $fields[$name] = $value;
    }
    $required = ['grant_type', 'client_assertion_type', 'scope', 'client_assertion'];
    if (broken('scope-optional') && !isset($fields['scope'])) {
        $fields['scope'] = SCOPES[0];
    }
    foreach ($required as $name) {
        if (($fields[$name] ?? '') === '') {
            return token_refusal(broken('missing-field-401') ? 401 : 400, 'invalid_request', "$name is missing");
        }
    }
    if ($fields['grant_type'] !== 'client_credentials' && !broken('grant-unchecked')) {
        return token_refusal(400, 'unsupported_grant_type', 'expected client_credentials');
    }
    if ($fields['client_assertion_type'] !== ASSERTION_TYPE) {
        return token_refusal(400, 'invalid_request', 'expected ' . ASSERTION_TYPE);
    }
    $granted = array_values(array_intersect(explode(' ', $fields['scope']), SCOPES));
    if ($granted === []) {
        return token_refusal(400, 'invalid_scope', 'no scope is known');
    }
    $subject = check_assertion($state, $fields['client_assertion']);
    if ($subject === null || ($customer !== null && $subject !== $customer)) {
        return token_refusal(broken('bad-assertion-400') ? 400 : 401, 'invalid_client', 'the assertion is not valid');
    }
    $token = uuid();
    if (broken('token-hex')) {
        $token = str_replace('-', '', $token);
    }
    $seconds = match (true) {
        broken('token-short') => intdiv(TOKEN_SECONDS, 2),
        broken('token-endless') => 100 * TOKEN_SECONDS,
        default => TOKEN_SECONDS,
    };
    $now = $state->now();
    $state->data['tokens'] = array_filter($state->data['tokens'], fn ($known) => $known['end'] > $now);
    $state->data['tokens'][$token] = ['customer' => $subject, 'scopes' => $granted, 'end' => $now + 1000 * $seconds];
    $answer = [
        'expires_in' => broken('expires-text') ? (string) TOKEN_SECONDS : TOKEN_SECONDS,
        'token_type' => 'Bearer',
        'access_token' => $token,
        'scope' => implode(' ', $granted),
    ];
    return [200, ['Cache-Control' => 'no-store', 'Pragma' => 'no-cache'], json_encode($answer)];
}

/** Returns the customer that an assertion is of, or null if it is not valid. */
function check_assertion(State $state, string $assertion): ?string
{
    $parts = explode('.', $assertion);
    if (count($parts) !== 3) {
        return null;
    }
    $header = decode_object($parts[0]);
    $claims = decode_object($parts[1]);
    $signature = decode_base64url($parts[2]);
    if ($header === null || $claims === null || $signature === null) {
        return null;
    }
    if (($header['alg'] ?? null) !== 'RS256' || isset($header['crit'])) {
        return null;
    }
    $type = $header['typ'] ?? null;
    if (!broken('typ-unchecked') && !(is_string($type) && strtolower($type) === 'jwt')) {
        return null;
    }
    $subject = $claims['sub'] ?? null;
    if (!is_string($subject)) {
        return null;
    }
    if (broken('sub-any-case')) {
        $subject = strtoupper($subject);
    }
    $customer = $state->data['customers'][$subject] ?? null;
    if ($customer === null) {
        return null;
    }
    $known = openssl_verify("$parts[0].$parts[1]", $signature, $customer['public_key'], OPENSSL_ALGO_SHA256) === 1;
    if (!$known && !broken('signature-unchecked')) {
        return null;
    }
    $audience = $claims['aud'] ?? null;
    if (is_array($audience) && count($audience) === 1) {
        $audience = $audience[0] ?? null;
    }
    if ($audience !== $state->data['audience'] && !broken('audience-unchecked')) {
        return null;
    }
    if (isset($claims['iss']) && $claims['iss'] !== $claims['sub']) {
        return null;
    }
    return check_times($claims) ? $subject : null;
}

/** Assertions are judged by the real time, as customers have no other. */
function check_times(array $claims): bool
{
    $now = microtime(true);
    $end = $claims['exp'] ?? null;
    if (is_string($end) && preg_match('/\A[0-9]{1,12}\z/', $end)) {
        $end = (int) $end;
    }
    $most = match (true) {
        broken('assertion-two-hours') => 7200,
        broken('assertion-half-hour') => 1800,
        default => 3600,
    };
    if (!is_int($end) || $end + (broken('assertion-expired') ? 300 : 0) <= $now || $end - $now > $most) {
        return false;
    }
    foreach (['nbf', 'iat'] as $name) {
        if (isset($claims[$name]) && (!is_numeric($claims[$name]) || $claims[$name] > $now + 30)) {
            return false;
        }
    }
    return true;
}

function decode_base64url(string $text): ?string
{
    if (!preg_match('/\A[A-Za-z0-9_-]*\z/', $text)) {
        return null;
    }
    $bytes = base64_decode(strtr($text, '-_', '+/'), true);
    return $bytes !== false && rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=') === $text ? $bytes : null;
}

function decode_object(string $text): ?array
{
    $object = json_decode(decode_base64url($text) ?? '', false, 16);
    return $object instanceof stdClass ? json_decode(json_encode($object), true) : null;
}
