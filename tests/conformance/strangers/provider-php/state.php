<?php
// What the provider knows: customers, accounts and their entries, tokens, counts of calls, and how
// far its clock was stepped ahead. One JSON file, which a lock guards between processes.

final class State
{
    /** @var array<string, mixed> */
    public array $data = [];
    private $lock;

    public function __construct(private string $folder)
    {
    }

    /** Runs $work with the state locked, and writes the state again. */
    public static function with(string $folder, callable $work): mixed
    {
        $state = new self($folder);
        $state->lock = fopen("$folder/state.lock", 'c');
        flock($state->lock, LOCK_EX);
        $state->data = json_decode(file_get_contents("$folder/state.json"), true, 512, JSON_THROW_ON_ERROR);
        try {
            return $work($state);
        } finally {
            file_put_contents("$folder/state.new", json_encode($state->data, JSON_THROW_ON_ERROR));
            rename("$folder/state.new", "$folder/state.json");
            fclose($state->lock);
        }
    }

    /** The provider's time in milliseconds. */
    public function now(): int
    {
        return (int) (microtime(true) * 1000) + 1000 * $this->data['stepped'];
    }

    public function customerOfKey(string $key): ?string
    {
        foreach ($this->data['customers'] as $code => $customer) {
            if ($key !== '' && hash_equals($customer['api_key'], $key)) {
                return $code;
            }
        }
        return null;
    }

    /**
     * Counts a call in the windows of its kind, refused or not, and returns the seconds until one
     * more is within all limits, or 0 if this one is. Windows of an hour slide, those of a second
     * are fixed.
     *
     * @param array<int, int> $limits the calls for each length of window in milliseconds
     */
    public function count(string $kind, array $limits): int
    {
        $now = $this->now();
        $wait = 0;
        foreach ($limits as $window => $limit) {
            $count = &$this->data['counts']["$kind $window"];
            $start = intdiv($now, $window) * $window;
            $count ??= ['start' => $start, 'current' => 0, 'previous' => 0];
            if ($count['start'] < $start) {
                $adjacent = $count['start'] === $start - $window && $window > 1000;
                $forgets = !broken('limit-sticky') || $count['current'] <= $limit;
                if ($forgets) {
                    $count = ['start' => $start, 'current' => 0, 'previous' => $adjacent ? $count['current'] : 0];
                }
            }
            $count['current']++;
            $refused = fn (int $at, int $current, int $previous): bool
                => $current * $window + $previous * ($start + $window - $at) > $limit * $window;
            if ($refused($now, $count['current'], $count['previous'])) {
                $wait = max($wait, self::wait($now, $start, $window, $limit, $count['current'], $count['previous']));
            }
            unset($count);
        }
        return $wait;
    }

    /** The seconds until one more call is within the limit, unless others come before. */
    private static function wait(int $now, int $start, int $window, int $limit, int $current, int $previous): int
    {
        $end = $start + $window;
        $free = $limit - 1 - $current;
        if ($free >= 0 && $previous > 0) {
            return max(1, (int) ceil(($end - intdiv($free * $window, $previous) - $now) / 1000));
        }
        $into = $current > 0 ? $window - intdiv(($limit - 1) * $window, $current) : 0;
        return max(1, (int) ceil(($end + max(0, $into) - $now) / 1000));
    }
}
