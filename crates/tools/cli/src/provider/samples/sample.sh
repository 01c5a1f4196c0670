#!/bin/sh
# Gets an access token, and prints the statement of an account. Needs curl and openssl.
# Usage: sh sample.sh [ACCOUNT]
set -eu
cd "$(dirname "$0")"

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

header=$(printf '{"alg":"RS256","typ":"jwt"}' | base64url)
expires=$(($(date +%s) + 300))
claims=$(printf '{"sub":"@CUSTOMER@","aud":"@AUDIENCE@","exp":%s}' "$expires" | base64url)
signature=$(printf '%s.%s' "$header" "$claims" | openssl dgst -sha256 -sign signing.pem -binary | base64url)

answer=$(curl --silent --show-error --cacert ca.pem \
    --header 'apikey: @API_KEY@' \
    --data-urlencode grant_type=client_credentials \
    --data-urlencode client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
    --data-urlencode 'scope=@SCOPE@' \
    --data-urlencode "client_assertion=$header.$claims.$signature" \
    '@TOKEN_URL@')
token=$(printf '%s' "$answer" | sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')
if [ -z "$token" ]; then
    printf 'no token: %s\n' "$answer" >&2
    exit 1
fi

curl --silent --show-error --cacert ca.pem \
    --header 'apikey: @API_KEY@' \
    --header "Authorization: Bearer $token" \
    --header 'Content-Type: application/json' \
    --data "{\"accountId\":\"${1:-@ACCOUNT@}\",\"includeNarrative\":true}" \
    '@STATEMENT_URL@'
echo
