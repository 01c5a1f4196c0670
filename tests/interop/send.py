"""A bank that seals messages with a Python library and delivers them: `send.py jwcrypto|joserfc FILE`.

FILE is a JSON object: the base `url` of the receivers, the `ca` that they are trusted by, and `deliveries`, each with
`path`, `headers`, `message`, the folder `keys`, the `kid` and a `fault`: `tampered`, or `bare` for a payload that is
signed and not encrypted. Prints the status and the body of each answer as JSON.
"""

import json
import pathlib
import ssl
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / ".ci/interop"))
import partner  # noqa: E402


def main():
    library, file = sys.argv[1:]
    given = json.loads(pathlib.Path(file).read_text())
    trusted = ssl.create_default_context(cafile=given["ca"])
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted))
    print(json.dumps([deliver(opener, library, given["url"], delivery) for delivery in given["deliveries"]]))


def deliver(opener, library, url, delivery):
    folder = pathlib.Path(delivery["keys"])
    header = partner.JWS_HEADER | ({"kid": delivery["kid"]} if delivery["kid"] else {})
    message = json.dumps(delivery["message"], ensure_ascii=False).encode()
    work = partner.WORK[library, "sign" if delivery["fault"] == "bare" else "seal"]
    sealed = work(lambda name: (folder / name).read_bytes(), message, header).decode()
    if delivery["fault"] == "tampered":
        # One character of the ciphertext.
        parts = sealed.split(".")
        parts[3] = ("B" if parts[3][0] == "A" else "A") + parts[3][1:]
        sealed = ".".join(parts)
    body = json.dumps({"secured_payload": sealed}).encode()
    request = urllib.request.Request(url + delivery["path"], body, delivery["headers"], method="POST")
    try:
        with opener.open(request, timeout=15) as answer:
            return {"status": answer.status, "body": answer.read().decode()}
    except urllib.error.HTTPError as answer:
        return {"status": answer.code, "body": answer.read().decode()}


main()
