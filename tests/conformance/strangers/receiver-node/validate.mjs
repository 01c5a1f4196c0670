// Checks the four kinds of messages. Unknown codes are kept, as new ones appear from time to time.

export class Invalid extends Error {}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{1,3})?Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const MANDATE_ID = /^[0-9a-f]{12}1[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

export const isUuid = (value) => UUID.test(value);

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const absent = (value) => value === undefined || value === null;

function isDate(year, month, day, faults) {
  if (month < 1 || month > 12 || day < 1) return false;
  if (faults.has('timestamp-rolls-over')) return day <= 31;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const february = leap && !faults.has('timestamp-leap-day') ? 29 : 28;
  return day <= [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
}

export class Validator {
  constructor(faults) {
    this.faults = faults;
    this.timestamp = this.timestamp.bind(this);
    this.money = this.money.bind(this);
    this.mandateId = this.mandateId.bind(this);
    this.actionId = this.actionId.bind(this);
    this.userId = this.userId.bind(this);
  }

  has(fault) {
    return this.faults.has(fault);
  }

  // members

  required(object, name, check) {
    if (absent(object[name])) throw new Invalid(`${name} is missing`);
    check(object[name], name);
  }

  optional(object, name, check) {
    if (!absent(object[name])) check(object[name], name);
  }

  // values

  string(value, name) {
    if (typeof value !== 'string') throw new Invalid(`${name} must be a string`);
  }

  boolean(value, name) {
    if (typeof value !== 'boolean') throw new Invalid(`${name} must be a boolean`);
  }

  object(value, name) {
    if (!isObject(value)) throw new Invalid(`${name} must be an object`);
  }

  // A string of so many characters, which are counted as code points.
  length(least, most) {
    return (value, name) => {
      this.string(value, name);
      let length = [...value].length;
      if (name === 'narrative' && this.has('narrative-utf16')) length = value.length;
      if (name === 'narrative' && this.has('narrative-bytes')) length = Buffer.byteLength(value);
      if (length < least || length > most) throw new Invalid(`${name} must have ${least} to ${most} characters`);
    };
  }

  pattern(regexp) {
    return (value, name) => {
      this.string(value, name);
      if (!regexp.test(value)) throw new Invalid(`${name} is not well formed`);
    };
  }

  // A code of four capitals. refused is for a value that the list should have, and lacks by a fault.
  code(fault, refused) {
    return (value, name) => {
      this.string(value, name);
      if (!/^[A-Z0-9]{4}$/.test(value)) throw new Invalid(`${name} is not a code`);
      if (fault && this.has(fault) && value === refused) throw new Invalid(`${name} is unknown`);
    };
  }

  timestamp(value, name) {
    this.string(value, name);
    let written = value;
    if (this.has('timestamp-offset')) written = written.replace(/\+\d{2}:\d{2}$/, 'Z');
    if (this.has('timestamp-space')) written = written.replace(' ', 'T');
    const match = TIMESTAMP.exec(written);
    const [year, month, day, hour, minute, second] = match ? match.slice(1, 7).map(Number) : [];
    if (!match || !isDate(year, month, day, this.faults) || hour > 23 || minute > 59 || second > 59) {
      throw new Invalid(`${name} is not a timestamp`);
    }
  }

  date(value, name) {
    this.string(value, name);
    const written = this.has('transaction-date-loose') ? value.slice(0, 10) : value;
    const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(written);
    if (!match || !isDate(...match.slice(1).map(Number), this.faults)) throw new Invalid(`${name} is not a date`);
  }

  time(value, name) {
    this.string(value, name);
    if (this.has('not-before-no-millis-zone') && /^([01]\d|2[0-3]):[0-5]\d$/.test(value)) return;
    if (!/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z$/.test(value)) throw new Invalid(`${name} is not a time`);
  }

  mandateId(value, name) {
    this.string(value, name);
    let regexp = MANDATE_ID;
    if (this.has('mandate-id-version')) regexp = /^[0-9a-f]{16}[89ab][0-9a-f]{15}$/;
    if (this.has('mandate-id-upper-case')) regexp = new RegExp(MANDATE_ID.source, 'i');
    const written = this.has('mandate-id-hyphens') ? value.replaceAll('-', '') : value;
    if (!regexp.test(written)) throw new Invalid(`${name} is not well formed`);
  }

  actionId(value, name) {
    this.string(value, name);
    const regexp = this.has('action-id-variant') ? /^[0-9a-f]{12}1[0-9a-f]{19}$/ : MANDATE_ID;
    if (!regexp.test(value)) throw new Invalid(`${name} is not well formed`);
  }

  userId(value, name) {
    this.length(this.has('user-id-empty') ? 0 : 1, this.has('user-id-11') ? 11 : 10)(value, name);
  }

  money(value, name) {
    this.object(value, name);
    this.required(value, 'currency', this.pattern(this.has('currency-lower-case') ? /^[A-Za-z]{3}$/ : /^[A-Z]{3}$/));
    this.required(value, 'amount', (amount) => {
      if (typeof amount === 'number' && this.has('money-number')) return;
      this.string(amount, 'amount');
      if (this.has('money-exponent') && amount.trim() !== '' && Number.isFinite(Number(amount))) return;
      const written = this.has('money-comma') ? amount.replace(',', '.') : amount;
      if (!/^-?\d+(\.\d+)?$/.test(written) || written.length > 29) throw new Invalid('amount is not a decimal');
    });
  }

  strings(object, names) {
    for (const name of names) this.optional(object, name, (v, n) => this.string(v, n));
  }

  // An alias that names the debtor's account, by its type. '-' is how an amendment says that it was cleared.
  alias(party, cleared) {
    const type = party.account_alias_type_code;
    const alias = party.account_alias_identification;
    if (absent(type) || absent(alias) || (cleared && alias === '-')) return;
    const good = {
      TELI: () => this.phone(alias), EMAL: () => this.email(alias), AUBN: () => this.business(alias), ORGN: () => this.organisation(alias),
    }[type];
    if (good && !good()) throw new Invalid(`account_alias_identification is not a ${type}`);
  }

  phone(alias) {
    const country = this.has('teli-country-4') ? '{1,4}' : '{1,3}';
    const first = this.has('teli-leading-zero') ? '[0-9]' : '[1-9]';
    const rest = this.has('teli-31') ? '{1,30}' : '{1,29}';
    return new RegExp(`^\\+[0-9]${country}-${first}[0-9]${rest}$`).test(alias);
  }

  email(alias) {
    if (!this.has('emal-upper-case') && alias !== alias.toLowerCase()) return false;
    if ([...alias].length > (this.has('emal-254') ? 254 : 256)) return false;
    if (!this.has('emal-white-space') && /\s/.test(alias)) return false;
    const at = alias.lastIndexOf('@');
    return at > 0 && at < alias.length - 1;
  }

  business(alias) {
    if (this.has('aubn-10')) return /^[0-9]{9,11}$/.test(alias);
    const digits = this.has('aubn-any-digits') ? alias.replaceAll(' ', '') : alias;
    return /^([0-9]{9}|[0-9]{11})$/.test(digits);
  }

  organisation(alias) {
    if (alias.length < 1 || [...alias].length > (this.has('orgn-257') ? 257 : 256)) return false;
    if (!this.has('orgn-upper-case') && /[A-Z]/.test(alias)) return false;
    if (!this.has('orgn-non-ascii') && !/^[ -~]*$/.test(alias)) return false;
    const trimmed = this.has('orgn-trailing-space') ? alias.trimStart() : alias.trim();
    return trimmed === alias;
  }

  // messages

  check(kind, message) {
    this[kind](message);
  }

  outcome(message) {
    this.required(message, 'creation_date_time', this.timestamp);
    this.required(message, 'status', this.code('status-listed-wrong', 'RJCT'));
    if (this.has('user-id-required')) this.required(message, 'mps_user_id', this.userId);
    this.optional(message, 'mps_user_id', this.userId);
    this.optional(message, 'request_id', this.pattern(
      this.has('request-id-no-hyphens') ? /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i : UUID));
    this.optional(message, 'mandate_identification', this.mandateId);
    this.optional(message, 'mandate_registration_date_time', this.timestamp);
    this.optional(message, 'mandate_status', this.code('mandate-status-missing', 'SUSD'));
    this.optional(message, 'action_identification', this.actionId);
    this.optional(message, 'action_type', this.code('action-type-missing', 'PORT'));
    this.optional(message, 'action_status', this.code('action-status-missing', 'RECL'));
    this.optional(message, 'bilateral', (value, name) => {
      if (this.has('bilateral-text') && (value === 'true' || value === 'false')) return;
      this.boolean(value, name);
    });
    this.strings(message, ['debtor_alias_name']);
    this.optional(message, 'resolution_requested_by', this.timestamp);
    this.optional(message, 'error', (error, name) => {
      if (this.has('error-text') && typeof error === 'string') return;
      this.object(error, name);
      if (!(this.has('error-code-number') && typeof error.code === 'number')) this.strings(error, ['code']);
      this.strings(error, ['severity', 'text', 'user_message', 'more_info']);
    });
  }

  notification(message) {
    if (this.has('created-optional')) this.optional(message, 'creation_date_time', this.timestamp);
    else this.required(message, 'creation_date_time', this.timestamp);
    this.required(message, 'trigger', this.code('trigger-missing', 'MAMN'));
    if (this.has('user-id-optional')) this.optional(message, 'mps_user_id', this.userId);
    else this.required(message, 'mps_user_id', this.userId);
    this.required(message, 'mandate_identification', this.mandateId);
    this.optional(message, 'mandate_status', this.code('mandate-status-missing', 'SUSD'));
    if (this.has('action-id-optional')) this.optional(message, 'action_identification', this.actionId);
    else this.required(message, 'action_identification', this.actionId);
    this.required(message, 'action_type', this.code('action-type-missing', 'PORT'));
    this.required(message, 'action_status', this.code('action-status-missing', 'RECL'));
    this.optional(message, 'resolution_event', (event, name) => {
      this.object(event, name);
      this.strings(event, ['reason_code', 'reason_description']);
    });
    this.optional(message, 'details', (details, name) => this.details(details, name));
  }

  details(details, name) {
    this.object(details, name);
    const variants = Object.keys(details).filter((variant) => !absent(details[variant]));
    if (variants.length !== 1 && !(variants.length === 2 && this.has('details-two-variants'))) {
      throw new Invalid('details must hold one variant');
    }
    for (const variant of variants) this.object(details[variant], variant);
    if (details.amendment && !this.has('amendment-debtor-array')) {
      this.required(details.amendment, 'debtor_information', (debtor) => this.debtor(debtor, true));
    }
    if (details.status_change) this.strings(details.status_change, ['change', 'reason_code', 'reason_description']);
  }

  debtor(debtor, cleared) {
    this.object(debtor, 'debtor_information');
    this.strings(debtor, [
      'party_type', 'party_name', 'ultimate_party_name', 'account_identification_type_code', 'account_identification',
      'account_alias_type_code', 'account_alias_identification', 'party_reference',
    ]);
    this.alias(debtor, cleared);
  }

  payment(message) {
    this.required(message, 'creation_date_time', this.timestamp);
    this.required(message, 'transaction_status', this.code('payment-status-missing', 'PDNG'));
    this.optional(message, 'transaction_status_reason_code', this.length(1, this.has('reason-code-5') ? 5 : 4));
    this.optional(message, 'transaction_status_additional_information', (list, name) => {
      if (this.has('additional-text') && typeof list === 'string') return;
      if (!Array.isArray(list)) throw new Invalid(`${name} must be an array`);
      for (const text of list) this.length(1, this.has('additional-106') ? 106 : 105)(text, name);
    });
    this.optional(message, 'mps_user_id', this.userId);
    this.optional(message, 'instruction_identification', this.length(1, this.has('instruction-36') ? 36 : 35));
    this.optional(message, 'uetr', this.pattern(this.has('uetr-any-version') ? UUID : UUID_4));
    this.optional(message, 'account_servicer_reference', this.length(1, 35));
    this.optional(message, 'clearing_system_reference', this.length(1, this.has('clearing-34') ? 34 : 35));
    if (!this.has('acceptance-unchecked')) this.optional(message, 'acceptance_date_time', this.timestamp);
    this.optional(message, 'original_transaction_reference', (reference, name) => {
      this.object(reference, name);
      this.optional(reference, 'instructed_amount', this.money);
      if (!this.has('reference-mandate-unchecked')) this.optional(reference, 'mandate_identification', this.mandateId);
      this.strings(reference, [
        'original_instruction_identification', 'mandate_identification', 'creditor_name', 'creditor_ultimate_name',
        'creditor_account_identification',
      ]);
    });
  }

  query(message) {
    this.required(message, 'creation_date_time', this.timestamp);
    this.required(message, 'case_id', this.length(1, this.has('case-id-21') ? 21 : 20));
    this.required(message, 'investigation_type_code', this.pattern(this.has('investigation-any') ? /^INV\d\d$/ : /^INV14$/));
    this.required(message, 'case_type', (value, name) => {
      this.length(1, 140)(value, name);
      if (this.has('case-type-missing') && value === 'Mandate Query Payments') throw new Invalid(`${name} is unknown`);
    });
    this.optional(message, 'reminder_count', (value, name) => {
      if (this.has('reminder-number') && typeof value === 'number') return;
      this.length(1, this.has('reminder-3') ? 3 : 2)(value, name);
    });
    if (!this.has('reopen-text')) this.optional(message, 're_open_case_indication', (v, n) => this.boolean(v, n));
    this.required(message, 'narrative', this.length(this.has('narrative-empty') ? 0 : 1, this.has('narrative-2049') ? 2049 : 2048));
    this.optional(message, 'payment_details', (payment, name) => {
      this.object(payment, name);
      this.strings(payment, ['transaction_identification', 'instruction_identification']);
      this.optional(payment, 'transaction_date', (v, n) => this.date(v, n));
      this.optional(payment, 'original_transaction_amount', this.money);
    });
    if (this.has('mandate-details-optional')) this.optional(message, 'mandate_details', (m, n) => this.mandate(m, n));
    else this.required(message, 'mandate_details', (m, n) => this.mandate(m, n));
  }

  mandate(mandate, name) {
    this.object(mandate, name);
    this.optional(mandate, 'mps_user_id', this.userId);
    this.optional(mandate, 'mandate_identification', this.mandateId);
    this.strings(mandate, ['establishment_scheme', 'mandate_purpose_code', 'description', 'additional_information']);
    this.optional(mandate, 'debtor_information', (debtor) => this.debtor(debtor, false));
    this.optional(mandate, 'creditor_information', (creditor, n) => {
      this.object(creditor, n);
      this.strings(creditor, ['party_reference']);
    });
    this.optional(mandate, 'payment_information', (payment, n) => {
      this.object(payment, n);
      this.strings(payment, ['payment_frequency', 'payment_amount_type']);
      this.optional(payment, 'payment_execute_not_before_time', (v, member) => this.time(v, member));
      for (const count of ['count_per_period', 'point_in_time']) {
        if (!(this.has('point-in-time-number') && typeof payment[count] === 'number')) this.strings(payment, [count]);
      }
      for (const amount of ['first_payment_amount', 'last_payment_amount', 'amount', 'maximum_amount']) {
        this.optional(payment, amount, this.money);
      }
    });
  }
}
