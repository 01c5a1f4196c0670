// Makes the folder of the receivers: certificates, both sides' keys, and receiver.toml.
//
// usage: make-folder.mjs FOLDER [PORT]

import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SECRET = { mode: 0o600 };

function openssl(...args) {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function rsaKey(privateFile, publicFile, bits) {
  openssl('genpkey', '-algorithm', 'RSA', '-pkeyopt', `rsa_keygen_bits:${bits}`, '-out', privateFile);
  const key = createPrivateKey(readFileSync(privateFile));
  writeFileSync(publicFile, createPublicKey(key).export({ type: 'spki', format: 'pem' }));
}

function certificates(folder) {
  const caKey = join(folder, 'ca-key.pem');
  const request = join(folder, 'server.csr');
  const extensions = join(folder, 'server.ext');
  openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', caKey,
    '-out', join(folder, 'ca.pem'), '-subj', '/CN=Test customer authority', '-days', '3650',
    '-addext', 'basicConstraints=critical,CA:TRUE,pathlen:0', '-addext', 'keyUsage=critical,keyCertSign,cRLSign');
  openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
    '-keyout', join(folder, 'server-key.pem'), '-out', request, '-subj', '/CN=localhost');
  writeFileSync(extensions, [
    'basicConstraints=critical,CA:FALSE', 'keyUsage=critical,digitalSignature', 'extendedKeyUsage=serverAuth',
    'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1', '',
  ].join('\n'));
  openssl('x509', '-req', '-in', request, '-CA', join(folder, 'ca.pem'), '-CAkey', caKey, '-CAcreateserial',
    '-out', join(folder, 'server.pem'), '-days', '820', '-extfile', extensions);
  for (const name of [request, extensions, caKey, join(folder, 'ca.srl')]) rmSync(name, { force: true });
}

export function writeReceiverToml(folder, settings, port) {
  const lines = [
    `url = "https://localhost:${port}"`,
    'sign = "provider/signing.pem"',
    `sign_kid = "${settings.signingKeys[0].kid}"`,
    'sign_4096 = "provider/large.pem"',
    `sign_4096_kid = "${settings.signingKeys[1].kid}"`,
    'encrypt_to = "encryption.pub.pem"',
    `encrypt_kid = "${settings.decryptionKey.kid}"`,
    'roots = "ca.pem"',
    `api_key = "${settings.apiKey}"`,
    'api_key_header = "apikey"',
    '',
  ];
  writeFileSync(join(folder, 'receiver.toml'), lines.join('\n'), SECRET);
}

function main() {
  const [folder, port = '9444'] = process.argv.slice(2);
  if (!folder) {
    console.error('usage: setup FOLDER [PORT]');
    process.exit(2);
  }
  mkdirSync(join(folder, 'provider'), { recursive: true });
  certificates(folder);
  rsaKey(join(folder, 'provider', 'signing.pem'), join(folder, 'provider', 'signing.pub.pem'), 2048);
  rsaKey(join(folder, 'provider', 'large.pem'), join(folder, 'provider', 'large.pub.pem'), 4096);
  rsaKey(join(folder, 'decryption.pem'), join(folder, 'encryption.pub.pem'), 2048);
  const settings = {
    apiKey: randomBytes(24).toString('base64url'),
    signingKeys: [
      { kid: 'bank-2026', file: 'provider/signing.pub.pem' },
      { kid: 'bank-2026-large', file: 'provider/large.pub.pem' },
    ],
    decryptionKey: { kid: 'customer-1', file: 'decryption.pem' },
  };
  writeFileSync(join(folder, 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`, SECRET);
  writeReceiverToml(folder, settings, port);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) main();
