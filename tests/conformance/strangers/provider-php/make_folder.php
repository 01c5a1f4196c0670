<?php
// Makes keys, certificates, customers and accounts: make_folder.php FOLDER PORT.

declare(strict_types=1);

[, $folder, $port] = $argv;
$base = "https://localhost:$port";

function entry(int $amount, bool $fast, string $narrative, string $counterparty): array
{
    static $number = 10 ** 11;
    return ['amount' => $amount, 'fast' => $fast, 'narrative' => $narrative, 'counterparty' => $counterparty,
        'day' => 'today', 'reference' => (string) ++$number];
}

function key_pair(string $file): string
{
    $key = openssl_pkey_new(['private_key_bits' => 2048, 'private_key_type' => OPENSSL_KEYTYPE_RSA]);
    openssl_pkey_export_to_file($key, $file);
    chmod($file, 0600);
    return openssl_pkey_get_details($key)['key'];
}

$customers = [];
$accounts = [];
foreach (['FIRST' => ['AUD', 'USD', 'SBD', 'HKD', 'SGD', 'INR', 'PGK', 'VND'], 'SECOND' => ['AUD']] as $code => $currencies) {
    $place = "$folder/" . strtolower($code);
    @mkdir($place, 0700, true);
    $customers[$code] = ['api_key' => bin2hex(random_bytes(16)), 'public_key' => key_pair("$place/signing.pem")];
    $own = [];
    foreach ($currencies as $number => $currency) {
        $id = sprintf('01200%d%09d', $code === 'FIRST' ? 3 : 4, 470011 + 1117 * $number);
        $own[] = $id;
        $accounts[$id] = ['customer' => $code, 'currency' => $currency, 'name' => "$code PTY LTD", 'opening' => 1_250_075, 'entries' => [
            entry(4_250, true, 'Invoice 2041, thank you 👍🏽', 'ZOË & SØNS <TRADING>'),
            entry(-118_025, true, 'Rent for March', 'HARBOUR ESTATES'),
            entry(1_999, false, 'Deposit', 'BRANCH'),
            entry(-75, false, 'Fee', 'BANK'),
            entry(33_310, true, str_repeat('Long remittance text; ', 12), 'MILL & CO'),
        ]];
    }
    $accounts[$own[0]]['page'] = 4;
    if ($code === 'FIRST') {
        $accounts[$own[1]]['opening'] = -900_050;
        $accounts[$own[3]]['entries'] = [];
        $accounts[$own[4]]['virtual'] = '880001234567';
    }
    copy("$folder/ca.pem", "$place/ca.pem");
    $list = implode(', ', array_map(fn ($id) => "\"$id\"", $own));
    file_put_contents("$place/connection.toml", <<<TOML
        base_url = "$base"
        customer = "$code"
        api_key = "{$customers[$code]['api_key']}"
        signing_key = "signing.pem"
        roots = "ca.pem"
        accounts = [$list]

        TOML);
    chmod("$place/connection.toml", 0600);
}
$state = ['customers' => $customers, 'accounts' => $accounts, 'tokens' => [], 'counts' => [], 'stepped' => 0, 'booked' => 0,
    'audience' => "$base/v1.0/auth", 'secret' => bin2hex(random_bytes(16))];
$limits = ['tokens_per_hour' => 10, 'tokens_per_second' => 2, 'statements_per_hour' => 25];
file_put_contents("$folder/limits.json", json_encode($limits, JSON_PRETTY_PRINT));
file_put_contents("$folder/state.json", json_encode($state, JSON_THROW_ON_ERROR));
chmod("$folder/state.json", 0600);
