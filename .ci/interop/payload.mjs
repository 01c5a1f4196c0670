// A foreign partner for the secured payload: `payload.mjs LIBRARY seal|open DIR` reads standard input and writes standard output.
// DIR holds signing.pem, signing.pub.pem, encryption.pem and encryption.pub.pem, as the `payload` example writes them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [library, action, folder] = process.argv.slice(2);
const key = (name) => readFileSync(join(folder, name), "utf8");
const input = readFileSync(0);

const partners = {
  jose: {
    async seal() {
      const { CompactSign, CompactEncrypt, importPKCS8, importSPKI } = await import("jose");
      const jws = await new CompactSign(input)
        .setProtectedHeader({ alg: "RS256", typ: "JWT" })
        .sign(await importPKCS8(key("signing.pem"), "RS256"));
      return new CompactEncrypt(new TextEncoder().encode(jws))
        .setProtectedHeader({ alg: "RSA-OAEP", enc: "A256CBC-HS512", cty: "JWT" })
        .encrypt(await importSPKI(key("encryption.pub.pem"), "RSA-OAEP"));
    },
    async open() {
      const { compactDecrypt, compactVerify, importPKCS8, importSPKI } = await import("jose");
      const { plaintext } = await compactDecrypt(
        input.toString().trim(),
        await importPKCS8(key("encryption.pem"), "RSA-OAEP"),
      );
      const verified = await compactVerify(plaintext, await importSPKI(key("signing.pub.pem"), "RS256"));
      return verified.payload;
    },
  },
  // As a published sender script does it: compressed, without kid and cty.
  "node-jose": {
    async seal() {
      const { default: jose } = await import("node-jose");
      const signing = await jose.JWK.asKey(key("signing.pem"), "pem");
      const jws = await jose.JWS.createSign(
        { format: "compact", alg: "RS256", fields: { typ: "JWT" } },
        { key: signing, reference: false },
      )
        .update(input)
        .final();
      const encryption = await jose.JWK.asKey(key("encryption.pub.pem"), "pem");
      return jose.JWE.createEncrypt(
        { format: "compact", zip: true, contentAlg: "A256CBC-HS512", fields: { alg: "RSA-OAEP" } },
        { key: encryption, reference: false },
      )
        .update(jws)
        .final();
    },
    async open() {
      const { default: jose } = await import("node-jose");
      const encryption = await jose.JWK.asKey(key("encryption.pem"), "pem");
      const { plaintext } = await jose.JWE.createDecrypt(encryption).decrypt(input.toString().trim());
      const signing = await jose.JWK.asKey(key("signing.pub.pem"), "pem");
      return (await jose.JWS.createVerify(signing).verify(plaintext.toString())).payload;
    },
  },
};

process.stdout.write(Buffer.from(await partners[library][action]()));
