// A foreign partner: `partner.mjs LIBRARY sign|verify|seal|open DIR` reads standard input and writes standard output.
// `sign` and `verify` are for assertions, `seal` and `open` for secured payloads.
// DIR holds signing.pem, signing.pub.pem, decryption.pem and encryption.pub.pem, as the `payload` example writes them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const keysOf = (folder) => (name) => readFileSync(join(folder, name), "utf8");

// The libraries, with the keys of a folder. A `kid` is the signing key's name in the header.
export const partners = (folder, key = keysOf(folder)) => ({
  jose: {
    async sign(input, typ = "jwt", kid = null) {
      const { CompactSign, importPKCS8 } = await import("jose");
      return new CompactSign(input)
        .setProtectedHeader(kid ? { alg: "RS256", typ, kid } : { alg: "RS256", typ })
        .sign(await importPKCS8(key("signing.pem"), "RS256"));
    },
    async verify(token) {
      const { compactVerify, importSPKI } = await import("jose");
      return (await compactVerify(token, await importSPKI(key("signing.pub.pem"), "RS256"))).payload;
    },
    async seal(input, kid) {
      const { CompactEncrypt, importSPKI } = await import("jose");
      const jws = await this.sign(input, "JWT", kid);
      return new CompactEncrypt(new TextEncoder().encode(jws))
        .setProtectedHeader({ alg: "RSA-OAEP", enc: "A256CBC-HS512", cty: "JWT" })
        .encrypt(await importSPKI(key("encryption.pub.pem"), "RSA-OAEP"));
    },
    async open(token) {
      const { compactDecrypt, importPKCS8 } = await import("jose");
      const { plaintext } = await compactDecrypt(token, await importPKCS8(key("decryption.pem"), "RSA-OAEP"));
      return this.verify(plaintext);
    },
  },
  // As a published sender script does it: compressed, without kid and cty.
  "node-jose": {
    async sign(input, typ = "jwt", kid = null) {
      const { default: jose } = await import("node-jose");
      const signing = await jose.JWK.asKey(key("signing.pem"), "pem");
      const fields = kid ? { typ, kid } : { typ };
      return jose.JWS.createSign({ format: "compact", alg: "RS256", fields }, { key: signing, reference: false })
        .update(input)
        .final();
    },
    async verify(token) {
      const { default: jose } = await import("node-jose");
      const signing = await jose.JWK.asKey(key("signing.pub.pem"), "pem");
      return (await jose.JWS.createVerify(signing).verify(token)).payload;
    },
    async seal(input, kid) {
      const { default: jose } = await import("node-jose");
      const jws = await this.sign(input, "JWT", kid);
      const encryption = await jose.JWK.asKey(key("encryption.pub.pem"), "pem");
      return jose.JWE.createEncrypt(
        { format: "compact", zip: true, contentAlg: "A256CBC-HS512", fields: { alg: "RSA-OAEP" } },
        { key: encryption, reference: false },
      )
        .update(jws)
        .final();
    },
    async open(token) {
      const { default: jose } = await import("node-jose");
      const encryption = await jose.JWK.asKey(key("decryption.pem"), "pem");
      const { plaintext } = await jose.JWE.createDecrypt(encryption).decrypt(token);
      return this.verify(plaintext.toString());
    },
  },
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [library, action, folder] = process.argv.slice(2);
  const given = readFileSync(0);
  const input = ["open", "verify"].includes(action) ? given.toString().trim() : given;
  process.stdout.write(Buffer.from(await partners(folder)[library][action](input)));
}
