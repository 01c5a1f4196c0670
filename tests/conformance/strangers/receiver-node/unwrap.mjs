// Opens secured_payload: decrypts the JWE, verifies the JWS in it, and reads the JSON message in that.

import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compactDecrypt, compactVerify, decodeProtectedHeader, importJWK } from 'jose';

const LARGEST_MESSAGE = 256 * 1024;
const text = new TextDecoder('utf-8', { fatal: true });

export class Unreadable extends Error {}

export class Unwrapper {
  constructor(folder, settings, faults) {
    this.faults = faults;
    this.decryption = {
      kid: settings.decryptionKey.kid,
      key: createPrivateKey(readFileSync(join(folder, settings.decryptionKey.file))),
    };
    this.signing = settings.signingKeys.map(({ kid, file }) => ({
      kid,
      key: createPublicKey(readFileSync(join(folder, file))),
    }));
    if (faults.has('jws-2048-only')) {
      this.signing = this.signing.filter(({ key }) => key.asymmetricKeyDetails.modulusLength === 2048);
    }
  }

  // The message, or an Unreadable that does not say what was wrong.
  async open(secured) {
    let payload;
    try {
      const parts = secured.split('.').length;
      const inner = parts === 3 && this.faults.has('jws-unencrypted') ? secured : text.decode(await this.decrypt(secured));
      if (this.faults.has('jwe-unsigned') && inner.startsWith('{')) payload = inner;
      else payload = text.decode(await this.verify(inner));
    } catch {
      throw new Unreadable('secured_payload cannot be decrypted and verified');
    }
    let message;
    try {
      message = JSON.parse(payload);
    } catch {
      throw new Unreadable('the message is not JSON');
    }
    if (message === null || typeof message !== 'object' || Array.isArray(message)) {
      throw new Unreadable('the message is not an object');
    }
    return message;
  }

  async decrypt(jwe) {
    const header = decodeProtectedHeader(jwe);
    if (header.kid !== undefined && header.kid !== this.decryption.kid) throw new Error('kid');
    const keyManagementAlgorithms = ['RSA-OAEP'];
    if (this.faults.has('jwe-any-key-algorithm')) keyManagementAlgorithms.push('RSA-OAEP-256');
    const contentEncryptionAlgorithms = ['A256CBC-HS512'];
    if (this.faults.has('jwe-any-encryption')) {
      contentEncryptionAlgorithms.push('A128CBC-HS256', 'A192CBC-HS384', 'A128GCM', 'A192GCM', 'A256GCM');
    }
    const { plaintext } = await compactDecrypt(jwe, this.decryption.key, {
      keyManagementAlgorithms, contentEncryptionAlgorithms, maxDecompressedLength: LARGEST_MESSAGE,
    });
    if (plaintext.length > LARGEST_MESSAGE) throw new Error('too large');
    return plaintext;
  }

  async verify(jws) {
    const header = decodeProtectedHeader(jws);
    const payload = jws.split('.')[1];
    if (this.faults.has('jws-not-verified') || (this.faults.has('jws-none') && header.alg === 'none')) {
      return Buffer.from(payload, 'base64url');
    }
    const algorithms = ['RS256'];
    if (this.faults.has('jws-any-digest')) algorithms.push('RS384', 'RS512');
    if (this.faults.has('jws-pss')) algorithms.push('PS256');

    let keys = this.signing.filter(({ kid }) => header.kid === undefined || header.kid === kid).map(({ key }) => key);
    if (this.faults.has('jws-embedded-key') && header.jwk) keys = [await importJWK(header.jwk, header.alg)];
    for (const key of keys) {
      try {
        return (await compactVerify(jws, key, { algorithms })).payload;
      } catch {
        // perhaps another of our keys
      }
    }
    throw new Error('no key verifies it');
  }
}
