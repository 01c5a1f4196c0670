<?php
// The statement endpoint: a page of the current statement of an account, as camt.052.001.06.

const MAX_ENTRIES = 1000;
const NO_MINOR_UNITS = ['VND'];

function statement_refusal(int $status, string $code, string $title, string $requestKey): array
{
    $error = ['statusCode' => broken('status-code-number') ? (int) substr($code, 2) : $code, 'title' => $title];
    return [$status, [], json_encode(['requestKey' => $requestKey, 'error' => $error], JSON_UNESCAPED_SLASHES)];
}

function answer_statement(State $state, array $headers, string $body, string $requestKey): array
{
    $refuse = fn (int $status, string $code, string $title): array
        => statement_refusal($status, $code, $title, $requestKey);
    $customer = $state->customerOfKey($headers['apikey'] ?? '');
    $bearer = preg_match('/\ABearer +([!-~]+)\z/i', $headers['authorization'] ?? '', $found) ? $found[1] : '';
    $token = $state->data['tokens'][$bearer] ?? null;
    if ($customer === null && broken('statement-key-optional') && !isset($headers['apikey'])) {
        $customer = $token['customer'] ?? null;
    }
    if ($customer === null) {
        return $refuse(401, 'EC000002', 'the API key is missing or unknown');
    }
    if ($token === null || $token['end'] <= $state->now()
        || ($token['customer'] !== $customer && !broken('foreign-token'))) {
        $refusal = $refuse(401, 'EC000002', 'the access token is missing or not valid');
        $refusal[1]['WWW-Authenticate'] = 'Bearer';
        return $refusal;
    }
    if (!in_array(SCOPES[0], $token['scopes'], true) && !broken('scopes-ignored')) {
        return $refuse(403, 'EC000002', 'the access token is not for statements');
    }
    $limit = LIMITS['statements_per_hour'] * (broken('statement-limit-double') ? 2 : 1);
    $wait = $state->count("statement $customer", [3_600_000 => $limit]);
    if ($wait > 0) {
        $refusal = $refuse(broken('limit-503') ? 503 : 429, 'EC000001', 'the rate limit is exceeded');
        $refusal[1]['Retry-After'] = (string) $wait;
        return $refusal;
    }
    if (strtolower(trim(explode(';', $headers['content-type'] ?? '')[0])) !== 'application/json') {
        return $refuse(415, 'EC000006', 'expected application/json');
    }
    $request = json_decode($body, true, 16);
    if (!is_array($request) || ltrim($body)[0] !== '{') {
        return $refuse(400, 'EC42001', 'expected a JSON object');
    }
    $id = $request['accountId'] ?? null;
    if (!is_string($id) || $id === '') {
        return $refuse(400, 'EC42001', 'accountId is missing');
    }
    $narrative = read_flag($request['includeNarrative'] ?? null, true);
    $most = $request['maxEntries'] ?? MAX_ENTRIES;
    $most = is_string($most) && ctype_digit($most) ? (int) $most : $most;
    $order = $request['sortOrder'] ?? 'forward';
    if ($narrative === null || !is_int($most) || $most < 1 || $most > MAX_ENTRIES
        || !in_array($order, ['forward', 'backward'], true) || ($request['extract'] ?? 'intraday') !== 'intraday') {
        return $refuse(400, 'EC42001', 'a member of the request is not valid');
    }
    $account = $state->data['accounts'][$id] ?? null;
    if ($account === null || ($account['customer'] !== $customer && !broken('foreign-account'))) {
        $title = broken('unknown-title') ? 'The account was not found' : "Account Id: '$id' not found";
        return $refuse(404, 'EC20001', $title);
    }
    // The page size of an account is less than what is asked for, where its ledger is slow.
    $most = min($most, $account['page'] ?? MAX_ENTRIES);
    $today = day($state->now());
    $entries = array_values(array_filter($account['entries'], fn ($entry) => in_array($entry['day'], ['today', $today], true)));
    $all = $entries;
    $first = 0;
    $count = count($entries);
    if (isset($request['cursor'])) {
        [$first, $count] = read_cursor($state, $request['cursor'], $id, $order) ?? [null, 0];
        if ($first === null) {
            return $refuse(400, 'EC42001', 'the cursor is not valid');
        }
    }
    // What is booked during a walk is left to the next one, so that pages do not shift.
    $entries = array_slice($entries, 0, $count);
    if ($order === 'backward') {
        $entries = array_reverse($entries);
    }
    $shift = match (true) {
        $first > 0 && broken('page-overlap') => -1,
        $first > 0 && broken('page-gap') => 1,
        default => 0,
    };
    $page = array_slice($entries, $first + $shift, $most);
    $more = $first + $most < count($entries);
    $answer = ['accountId' => $id, 'extract' => 'intraday'];
    if (isset($account['virtual']) || $order === 'backward') {
        $answer['sortOrder'] = $order;
    }
    $answer['payload'] = (new Document($state, $id, $account, $narrative, $requestKey))->write($page, $all);
    $answer['requestKey'] = $requestKey;
    if ($more || broken('cursor-always')) {
        $answer['cursor'] = write_cursor($state, $first + $most, $count, $id, $order);
    }
    $answer['moreTransactionsAvailable'] = $more;
    return [200, [], json_encode($answer, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR)];
}

function read_flag(mixed $value, bool $default): ?bool
{
    return match ($value) {
        null => $default,
        true, 'true' => true,
        false, 'false' => false,
        default => null,
    };
}

/** A cursor is the first entry of the next page, of how many entries, and a seal. */
function write_cursor(State $state, int $first, int $count, string $id, string $order): string
{
    $seal = hash_hmac('sha256', "$first $count $id $order", $state->data['secret'], true);
    return base64_encode(pack('NN', $first, $count) . substr($seal, 0, 16));
}

/** @return ?array{int, int} */
function read_cursor(State $state, mixed $cursor, string $id, string $order): ?array
{
    $bytes = is_string($cursor) ? base64_decode($cursor, true) : false;
    if ($bytes === false || strlen($bytes) !== 24) {
        return null;
    }
    ['first' => $first, 'count' => $count] = unpack('Nfirst/Ncount', $bytes);
    return hash_equals(write_cursor($state, $first, $count, $id, $order), $cursor) ? [$first, $count] : null;
}

function day(int $now): string
{
    return gmdate('Y-m-d', intdiv($now, 1000));
}

/** One camt.052.001.06 document. Amounts are integers of minor units; debits are negative. */
final class Document
{
    private string $xml = '';

    public function __construct(
        private State $state,
        private string $id,
        private array $account,
        private bool $narrative,
        private string $requestKey
    ) {
    }

    public function write(array $page, array $all): string
    {
        $now = $this->state->now();
        $created = gmdate('Y-m-d\TH:i:s', intdiv($now, 1000)) . sprintf('.%03d+00:00', $now % 1000);
        $currency = $this->account['currency'];
        $balance = $this->account['opening'] + array_sum(array_column($all, 'amount'));
        $this->xml = '<?xml version="1.0" encoding="UTF-8"?>'
            . '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>';
        $this->xml .= '<GrpHdr>' . $this->text('MsgId', str_replace('-', '', $this->requestKey))
            . $this->text('CreDtTm', $created) . '</GrpHdr>';
        $this->xml .= '<Rpt>' . $this->text('Id', bin2hex(random_bytes(16))) . $this->text('CreDtTm', $created)
            . '<RptgSrc>' . $this->text('Prtry', 'PHP') . '</RptgSrc>'
            . '<Acct><Id><Othr>' . $this->text('Id', $this->id) . '</Othr></Id>' . $this->text('Ccy', $currency) . '</Acct>'
            . '<Bal><Tp><CdOrPrtry>' . $this->text('Cd', 'ITAV') . '</CdOrPrtry><SubTp>' . $this->text('Prtry', 'Current')
            . '</SubTp></Tp>' . $this->amount($balance) . $this->sign(broken('overdrawn-credit') ? 1 : $balance)
            . '<Dt>' . $this->text('Dt', day($now)) . '</Dt></Bal>';
        $this->summary($page);
        foreach ($page as $entry) {
            $this->entry($entry, $now);
        }
        return $this->xml . '</Rpt></BkToCstmrAcctRpt></Document>';
    }

    private function summary(array $page): void
    {
        $amounts = array_column($page, 'amount');
        $credits = array_filter($amounts, fn ($amount) => $amount >= 0);
        $debits = array_filter($amounts, fn ($amount) => $amount < 0);
        $net = array_sum($amounts);
        $sum = broken('sum-net') ? abs($net) : array_sum($credits) - array_sum($debits);
        $this->xml .= '<TxsSummry><TtlNtries>' . $this->text('NbOfNtries', (string) count($amounts))
            . $this->text('Sum', $this->decimal($sum)) . '<TtlNetNtry>' . $this->text('Amt', $this->decimal(abs($net)))
            . $this->sign(broken('net-sign') ? 1 : $net) . '</TtlNetNtry></TtlNtries>'
            . '<TtlCdtNtries>' . $this->text('NbOfNtries', (string) count($credits))
            . $this->text('Sum', $this->decimal(array_sum($credits))) . '</TtlCdtNtries>'
            . '<TtlDbtNtries>' . $this->text('NbOfNtries', (string) count($debits))
            . $this->text('Sum', $this->decimal(-array_sum($debits))) . '</TtlDbtNtries></TxsSummry>';
    }

    private function entry(array $entry, int $now): void
    {
        $amount = $entry['amount'];
        if (broken('cents-cut')) {
            $amount -= $amount % 10;
        }
        $day = $entry['day'] === 'today' ? day($now) : $entry['day'];
        [$family, $code] = $amount < 0 ? ['ICDT', 'DMCT'] : ['RCDT', 'DMCT'];
        $this->xml .= '<Ntry>' . $this->amount($amount) . $this->sign($amount) . $this->text('Sts', 'BOOK')
            . '<BookgDt>' . $this->text('Dt', $day) . '</BookgDt><ValDt>' . $this->text('Dt', $day) . '</ValDt>'
            . '<BkTxCd><Domn>' . $this->text('Cd', 'PMNT') . '<Fmly>' . $this->text('Cd', $family)
            . $this->text('SubFmlyCd', $code) . '</Fmly></Domn></BkTxCd>'
            . '<NtryDtls><TxDtls><Refs>' . $this->text('AcctSvcrRef', $entry['reference']);
        if ($entry['fast']) {
            $this->xml .= $this->text('EndToEndId', 'E2E' . $entry['reference']) . '<Prtry>' . $this->text('Tp', 'ServiceLevel')
                . $this->text('Ref', 'fast.clear.01') . '</Prtry>';
        }
        $this->xml .= '</Refs>' . $this->amount($amount) . $this->sign(broken('transaction-sign') ? 1 : $amount);
        if ($entry['fast'] && ($this->narrative || broken('narrative-always'))) {
            $this->parties($entry);
            $narrative = $entry['narrative'];
            if (broken('narrative-ascii')) {
                $narrative = preg_replace('/[^\x20-\x7e]/u', '?', $narrative);
            }
            $this->xml .= '<RmtInf>';
            foreach (mb_pieces($narrative, 140) as $piece) {
                $this->xml .= $this->text('Ustrd', $piece);
            }
            $this->xml .= '</RmtInf>';
        }
        $this->xml .= '</TxDtls></NtryDtls></Ntry>';
    }

    private function parties(array $entry): void
    {
        [$debtor, $creditor] = [$entry['counterparty'], $this->account['name']];
        if ($entry['amount'] < 0) {
            [$debtor, $creditor] = [$creditor, $debtor];
        }
        $this->xml .= '<RltdPties><Dbtr>' . $this->text('Nm', $debtor) . '</Dbtr><Cdtr>' . $this->text('Nm', $creditor) . '</Cdtr>';
        if (isset($this->account['virtual']) && $entry['amount'] >= 0) {
            $this->xml .= '<CdtrAcct><Id><Othr>' . $this->text('Id', $this->account['virtual']);
            $this->xml .= broken('virtual-issuer') ? '' : $this->text('Issr', substr($this->id, 0, 6));
            $this->xml .= '</Othr></Id></CdtrAcct>';
        }
        $this->xml .= '</RltdPties>';
    }

    private function text(string $name, string $value): string
    {
        return "<$name>" . htmlspecialchars($value, ENT_XML1 | ENT_NOQUOTES) . "</$name>";
    }

    private function amount(int $amount): string
    {
        $shown = broken('negative-debits') && $amount < 0 ? '-' : '';
        return '<Amt Ccy="' . $this->account['currency'] . '">' . $shown . $this->decimal(abs($amount)) . '</Amt>';
    }

    private function sign(int $amount): string
    {
        return $this->text('CdtDbtInd', $amount < 0 ? 'DBIT' : 'CRDT');
    }

    private function decimal(int $amount): string
    {
        return in_array($this->account['currency'], NO_MINOR_UNITS, true)
            ? (string) $amount : sprintf('%d.%02d', intdiv($amount, 100), $amount % 100);
    }
}

/** The pieces of a text of at most $size code points; PHP's mbstring need not be there. */
function mb_pieces(string $text, int $size): array
{
    preg_match_all("/.{1,$size}/su", $text, $found);
    return $found[0];
}

/** Books an entry for today: an order of the judge. */
function book(State $state, string $body): array
{
    $order = json_decode($body, true) ?? [];
    $id = $order['account'] ?? '';
    $account = &$state->data['accounts'][$id];
    if ($account === null) {
        unset($state->data['accounts'][$id]);
        return [404, [], json_encode(['error' => 'no such account'])];
    }
    if (!preg_match('/\A([0-9]{1,12})(?:\.([0-9]{1,2}))?\z/', (string) ($order['amount'] ?? ''), $found)) {
        return [400, [], json_encode(['error' => 'the amount is not valid'])];
    }
    $minor = in_array($account['currency'], NO_MINOR_UNITS, true)
        ? (int) $found[1] : 100 * (int) $found[1] + (int) str_pad($found[2] ?? '', 2, '0');
    $kind = $order['kind'] ?? '';
    $entry = [
        'amount' => str_ends_with($kind, '_out') ? -$minor : $minor,
        'fast' => str_starts_with($kind, 'fast_payment'),
        'narrative' => $order['narrative'] ?? '',
        'counterparty' => $order['counterparty'] ?? 'UNKNOWN',
        'day' => day($state->now()),
    ];
    $same = fn ($known) => array_diff_key($known, ['reference' => 0]) === $entry;
    if (!broken('alike-merged') || array_filter($account['entries'], $same) === []) {
        $account['entries'][] = $entry + ['reference' => (string) (10 ** 12 + ++$state->data['booked'])];
    }
    return [200, [], json_encode(['booked' => true])];
}
