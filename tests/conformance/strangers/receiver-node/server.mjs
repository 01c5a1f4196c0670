// A customer's four webhook receivers over HTTPS. What was received is kept in memory.
//
// usage: server.mjs FOLDER PORT [--fault NAME]...

import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import express from 'express';
import { writeReceiverToml } from './make-folder.mjs';
import { Unreadable, Unwrapper } from './unwrap.mjs';
import { Invalid, Validator, isUuid } from './validate.mjs';

const PATHS = {
  '/payto/mandates/outcomes': 'outcome',
  '/payto/mandates/notifications': 'notification',
  '/payto/mpirs/outcomes': 'payment',
  '/payto/queries': 'query',
};

class BadRequest extends Error {}
class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

// Headers

class HeaderRules {
  constructor(faults) {
    this.faults = faults;
  }

  uuid(request, name, required, anyTextFault) {
    const value = request.get(name);
    if (value === undefined) {
      if (required) throw new BadRequest(`${name} is missing`);
      return undefined;
    }
    if (this.faults.has(anyTextFault) && value !== '') return value;
    if (!isUuid(value)) throw new BadRequest(`${name} is not a UUID`);
    return value;
  }

  check(kind, request) {
    const { faults } = this;
    const echoed = kind === 'outcome' || kind === 'payment';
    if (echoed) {
      const optional = kind === 'outcome' && faults.has('request-key-optional');
      const key = this.uuid(request, 'X-RequestKey', !optional, 'request-key-any-text');
      if (faults.has('request-key-version-4') && key && key[14] !== '4') throw new BadRequest('X-RequestKey is not a UUID');
      const correlated = kind === 'payment' && faults.has('correlation-id-required');
      this.uuid(request, 'X-Correlation-Id', correlated, 'correlation-id-any-text');
    } else if (kind === 'notification' && faults.has('request-key-on-notifications')) {
      this.uuid(request, 'X-RequestKey', true);
    }
    const optional = kind === 'query' && faults.has('message-id-optional');
    const messageId = this.uuid(request, 'X-Message-Id', !optional, 'message-id-any-text');
    this.priority(kind, request.get('priority'));
    return messageId ?? randomUUID();
  }

  priority(kind, value) {
    const { faults } = this;
    if (value === undefined) return;
    let allowed = ['ATTENDED', 'UNATTENDED'];
    if (kind === 'query' && !faults.has('priority-query-attended')) allowed = ['UNATTENDED'];
    if (kind === 'payment' && faults.has('priority-attended-only')) allowed = ['ATTENDED'];
    if (kind !== 'query' && faults.has('priority-any-text')) return;
    const written = faults.has('priority-any-case') ? value.toUpperCase() : value;
    if (!allowed.includes(written)) throw new BadRequest('priority is unknown');
  }
}

// What was received

const absent = (value) => value === undefined || value === null;

// The same text for the same content: members in order, absent ones left out.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.keys(value).filter((name) => !absent(value[name])).sort();
    return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

function digest(message) {
  const { creation_date_time: _, ...content } = message;
  return createHash('sha256').update(canonical(content)).digest('hex');
}

class Inbox {
  constructor(faults) {
    this.faults = faults;
    this.counter = 0;
    this.constant = randomUUID();
    this.received = new Map(); // kind -> list of { keys, digest, id, at }, oldest first
    this.settled = new Set(); // payments that are final
    this.mandates = new Set(); // mandates that an outcome has named
    this.latest = new Map(); // mandate -> creation time of the last message about it
  }

  // The keys by which a message is known. Several mean that any of them will do.
  keys(kind, message, messageId) {
    const { faults } = this;
    if (faults.has('duplicate-by-message-id')) return [`id:${messageId}`];
    const keys = [];
    if (kind === 'outcome') {
      const name = faults.has('outcome-key-mandate') ? 'mandate_identification' : 'request_id';
      if (!absent(message[name])) keys.push(`${name}:${message[name].toLowerCase()}`);
    } else if (kind === 'notification') {
      if (faults.has('notification-key-mandate')) keys.push(`mandate:${message.mandate_identification}:${message.trigger}`);
      else if (!absent(message.action_identification)) keys.push(`action:${message.action_identification}`);
    } else if (kind === 'payment') {
      const status = faults.has('payment-key-no-status') ? '' : message.transaction_status;
      if (!absent(message.instruction_identification)) {
        keys.push(`instruction:${JSON.stringify([message.instruction_identification, status])}`);
      }
      if (!absent(message.uetr) && !faults.has('payment-key-instruction-only')) {
        keys.push(`uetr:${JSON.stringify([message.uetr.toLowerCase(), status])}`);
      }
      if (keys.length === 0 && faults.has('payment-key-instruction-only') && message.uetr) return [`none:${randomUUID()}`];
    } else {
      const reminder = faults.has('query-key-no-reminder') ? undefined : message.reminder_count;
      const reopened = faults.has('query-key-no-reopen') ? undefined : message.re_open_case_indication;
      keys.push(`case:${JSON.stringify([message.case_id, reminder ?? null, reopened ?? null])}`);
    }
    return keys.length > 0 ? keys : [`id:${messageId}`];
  }

  // The earlier delivery of which this one is a duplicate. Other content under the same key is a
  // conflict, which is news.
  earlier(kind, keys, contentDigest) {
    const { faults } = this;
    let list = this.received.get(kind) ?? [];
    if (faults.has('duplicate-forgotten')) list = list.slice(-8);
    if (faults.has('duplicate-window')) list = list.filter(({ at }) => Date.now() - at < 10_000);
    const keyAlone = [
      'outcome-key-mandate', 'notification-key-mandate', 'payment-key-no-status', 'query-key-no-reminder', 'query-key-no-reopen',
    ].some((fault) => faults.has(fault));
    return list.find((item) => item.keys.some((key) => keys.includes(key)) && (keyAlone || item.digest === contentDigest));
  }

  async take(kind, message, messageId) {
    const { faults } = this;
    const keys = this.keys(kind, message, messageId);
    const contentDigest = digest(message);
    const known = this.earlier(kind, keys, contentDigest);
    if (known) {
      if (faults.has('duplicate-refused')) throw new Refused(409, 'this message was received before');
      return { id: known.id, duplicate: true };
    }
    if (faults.has('duplicate-race')) await sleep(50);
    this.checkOrder(kind, message);
    const item = { keys, digest: contentDigest, id: this.newId(), at: Date.now() };
    if (!this.received.has(kind)) this.received.set(kind, []);
    this.received.get(kind).push(item);
    return { id: item.id, duplicate: false };
  }

  // Messages may come in any order: only faults refuse one for it.
  checkOrder(kind, message) {
    const { faults } = this;
    const mandate = message.mandate_identification;
    if (kind === 'payment') {
      const payment = message.instruction_identification ?? message.uetr;
      if (message.transaction_status === 'ACSC') this.settled.add(payment);
      else if (faults.has('payment-out-of-order') && this.settled.has(payment) && message.transaction_status !== 'RJCT') {
        throw new Refused(409, 'the payment is settled');
      }
    }
    if (kind === 'outcome' && mandate) this.mandates.add(mandate);
    if (kind === 'notification' && faults.has('notification-before-outcome') && !this.mandates.has(mandate)) {
      throw new Refused(404, 'the mandate is unknown');
    }
    if (mandate && (kind === 'outcome' || kind === 'notification')) {
      const created = Date.parse(message.creation_date_time);
      if (faults.has('older-time-refused') && created < this.latest.get(mandate)) throw new BadRequest('the message is out of date');
      this.latest.set(mandate, created);
    }
  }

  newId() {
    const { faults } = this;
    this.counter += 1;
    if (faults.has('acknowledgement-id-number')) return this.counter;
    if (faults.has('acknowledgement-id-no-hyphens')) return randomUUID().replaceAll('-', '').toUpperCase();
    if (faults.has('acknowledgement-id-constant')) return this.constant;
    return randomUUID();
  }
}

// HTTP

function sameKey(given, expected) {
  const hash = (value) => createHash('sha256').update(value).digest();
  return given !== undefined && timingSafeEqual(hash(given), hash(expected));
}

function makeApp(folder, settings, faults) {
  const headers = new HeaderRules(faults);
  const unwrapper = new Unwrapper(folder, settings, faults);
  const validator = new Validator(faults);
  const inbox = new Inbox(faults);

  function acknowledge(response, kind, { id, duplicate }) {
    if (kind === 'notification' && faults.has('acknowledgement-empty')) return response.status(204).end();
    let status = 'RCVD';
    if (faults.has('acknowledgement-received')) status = 'RECEIVED';
    if (kind === 'query' && faults.has('acknowledgement-lower-case')) status = 'rcvd';
    if (duplicate && faults.has('duplicate-status')) status = 'DUPL';
    return response.status(200).json({ id, status });
  }

  function securedPayload(body) {
    let envelope;
    try {
      envelope = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    } catch {
      throw new BadRequest('the body is not JSON');
    }
    if (envelope === null || typeof envelope !== 'object' || Array.isArray(envelope)) throw new BadRequest('the body is not an object');
    if (absent(envelope.secured_payload) && faults.has('payload-optional')) return undefined;
    if (typeof envelope.secured_payload !== 'string') throw new BadRequest('secured_payload must be a string');
    return envelope.secured_payload;
  }

  async function receive(kind, request, response) {
    const messageId = headers.check(kind, request);
    const secured = securedPayload(request.body ?? Buffer.alloc(0));
    if (secured === undefined) return acknowledge(response, kind, { id: inbox.newId(), duplicate: false });
    let message;
    try {
      message = await unwrapper.open(secured);
    } catch (error) {
      if (error instanceof Unreadable && faults.has('undecryptable-acknowledged')) {
        return acknowledge(response, kind, { id: inbox.newId(), duplicate: false });
      }
      throw error;
    }
    validator.check(kind, message);
    return acknowledge(response, kind, await inbox.take(kind, message, messageId));
  }

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  for (const [path, kind] of Object.entries(PATHS)) {
    app.all(path, (request, response, next) => {
      if (request.method !== 'POST') return response.status(405).set('Allow', 'POST').end();
      if (!sameKey(request.get('apikey'), settings.apiKey)) return response.status(401).end();
      if (!request.is('application/json')) return response.status(415).end();
      return next();
    }, express.raw({ type: () => true, limit: '1mb' }), (request, response) => receive(kind, request, response));
  }
  app.use((request, response) => response.status(404).end());
  app.use((error, request, response, next) => {
    if (response.headersSent) return next(error);
    const problem = (status, title, detail) => response.status(status).json({ status: String(status), title, detail });
    if (error instanceof BadRequest || error instanceof Invalid || error instanceof Unreadable) {
      return problem(400, 'Bad Request', error.message);
    }
    if (error instanceof Refused) return response.status(error.status).end();
    if (error.status === 413) return response.status(413).end();
    if (error.status >= 400 && error.status < 500) return problem(400, 'Bad Request', 'the body cannot be read');
    console.error(error);
    return problem(500, 'Internal Server Error', 'the message was not stored');
  });
  return app;
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true, options: { fault: { type: 'string', multiple: true, default: [] } },
  });
  const [folder, port] = positionals;
  if (!folder || !port) {
    console.error('usage: run FOLDER PORT [--fault NAME]...');
    process.exit(2);
  }
  const list = readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'faults.tsv'), 'utf8');
  const known = new Set(list.trim().split('\n').map((line) => line.split('\t')[0]));
  for (const fault of values.fault) {
    if (!known.has(fault)) {
      console.error(`unknown fault: ${fault}`);
      process.exit(2);
    }
  }
  const settings = JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8'));
  writeReceiverToml(folder, settings, port);
  const app = makeApp(folder, settings, new Set(values.fault));
  const server = https.createServer({
    cert: readFileSync(join(folder, 'server.pem')), key: readFileSync(join(folder, 'server-key.pem')), minVersion: 'TLSv1.2',
  }, app);
  server.listen(Number(port), '127.0.0.1', () => console.log(`ready ${port}`));
  const stop = () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main();
