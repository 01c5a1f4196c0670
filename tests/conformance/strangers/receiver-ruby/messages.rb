# The four messages: the members of each, their types and bounds. Codes that the specification does
# not list are kept, because minor releases add some.
require 'date'

module Messages
  class Invalid < StandardError; end

  UUID = /\A\h{8}-\h{4}-\h{4}-\h{4}-\h{12}\z/

  def self.text(range) = ->(v) { v.is_a?(String) && range.cover?(v.size) }
  def self.match(pattern) = ->(v) { v.is_a?(String) && pattern.match?(v) }

  TEXT = text(0..)
  CODE = lambda do |*known|
    ->(v) { v.is_a?(String) && !v.empty? && !(Fault.on?('narrow-codes') && !known.include?(v)) }
  end
  FLAG = ->(v) { v == true || v == false || (Fault.on?('text-flag') && %w[true false].include?(v)) }

  TIMESTAMP = lambda do |v|
    pattern = /\A(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z\z/
    pattern = /\A(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?\z/ if Fault.on?('any-offset')
    found = v.is_a?(String) && pattern.match(v)
    found && Date.valid_date?(*found[1].split('-').map(&:to_i))
  end
  DATE = ->(v) { v.is_a?(String) && v.match?(/\A\d{4}-\d\d-\d\d\z/) && Date.valid_date?(*v.split('-').map(&:to_i)) }
  TIME = match(/\A([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z\z/)

  MANDATE = lambda do |v|
    pattern = /\A\h{12}1\h{3}[89ab]\h{15}\z/
    pattern = /\A\h{32}\z/ if Fault.on?('mandate-id-version')
    v.is_a?(String) && pattern.match?(v) && (Fault.on?('upper-id') || v == v.downcase)
  end
  USER = text(1..10)
  UETR = lambda do |v|
    pattern = /\A\h{8}-\h{4}-4\h{3}-[89abAB]\h{3}-\h{12}\z/
    pattern = UUID if Fault.on?('uetr-version')
    match(pattern).call(v)
  end
  MONEY = lambda do |v|
    next false unless v.is_a?(Hash) && match(/\A[A-Z]{3}\z/).call(v['currency'])

    amount = v['amount']
    next true if amount.is_a?(Numeric) && Fault.on?('number-amount')

    match(/\A-?\d{1,18}(\.\d{1,10})?\z/).call(amount)
  end
  NARRATIVE = lambda do |v|
    v.is_a?(String) && (1..2048).cover?(Fault.on?('narrative-bytes') ? v.bytesize : v.size)
  end
  INFORMATION = lambda do |v|
    v.is_a?(Array) && v.all? { |text| text(1..(Fault.on?('information-any') ? 10_000 : 105)).call(text) }
  end
  CASE_TYPE = ->(v) { ['Mandate Query Case', 'Mandate Query Payments'].include?(v) }
  # An object whose members are read with the rules that are given, and are otherwise left alone.
  def self.object(rules) = ->(v) { v.is_a?(Hash) && check_members(v, rules, []) }

  STATUS = %w[ACTV CNCD CRTD SUSD].freeze
  ACTION_TYPE = %w[AMND CREA STCH].freeze
  ACTION_STATUS = %w[CMPL DECL PEND RECL TIMO].freeze
  # An object whose members of these names are text.
  def self.texts(*names) = object(names.to_h { |name| [name, TEXT] })

  PARTY = %w[party_type party_name ultimate_party_name account_identification_type_code account_identification
             account_alias_type_code account_alias_identification party_reference].freeze
  AMENDMENT = object('amendment' => object('debtor_information' => texts(*PARTY)))
  DETAILS = ->(v) { v.is_a?(Hash) && v.size == 1 && v.values.all?(Hash) && AMENDMENT.call(v) }

  KINDS = {
    'outcome' => {
      required: %w[creation_date_time status],
      rules: {
        'creation_date_time' => TIMESTAMP, 'status' => CODE.call('RJCT', 'SUCC'), 'mps_user_id' => USER,
        'request_id' => match(UUID), 'mandate_identification' => MANDATE,
        'mandate_registration_date_time' => TIMESTAMP, 'mandate_status' => CODE.call(*STATUS),
        'action_identification' => MANDATE, 'action_type' => CODE.call(*ACTION_TYPE),
        'action_status' => CODE.call(*ACTION_STATUS), 'bilateral' => FLAG, 'debtor_alias_name' => TEXT,
        'resolution_requested_by' => TIMESTAMP,
        'error' => object('code' => TEXT, 'severity' => TEXT, 'text' => TEXT, 'user_message' => TEXT, 'more_info' => TEXT)
      }
    },
    'notification' => {
      required: %w[creation_date_time trigger mps_user_id mandate_identification action_identification action_type
                   action_status],
      rules: {
        'creation_date_time' => TIMESTAMP, 'trigger' => CODE.call(*%w[MAMC MAMD MAMN MAMX MCRC MCRD MCRX MSCH]),
        'mps_user_id' => USER, 'mandate_identification' => MANDATE, 'mandate_status' => CODE.call(*STATUS),
        'action_identification' => MANDATE, 'action_type' => CODE.call(*ACTION_TYPE),
        'action_status' => CODE.call(*ACTION_STATUS),
        'resolution_event' => object('reason_code' => TEXT, 'reason_description' => TEXT), 'details' => DETAILS
      }
    },
    'payment' => {
      required: %w[creation_date_time transaction_status],
      rules: {
        'creation_date_time' => TIMESTAMP, 'transaction_status' => CODE.call('ACSC', 'ACSP', 'PDNG', 'RJCT'),
        'transaction_status_reason_code' => ->(v) { text(1..(Fault.on?('reason-35') ? 35 : 4)).call(v) },
        'transaction_status_additional_information' => INFORMATION, 'mps_user_id' => USER,
        'instruction_identification' => text(1..35), 'uetr' => UETR, 'account_servicer_reference' => text(1..35),
        'clearing_system_reference' => text(1..35), 'acceptance_date_time' => TIMESTAMP,
        'original_transaction_reference' => object(
          'original_instruction_identification' => TEXT, 'instructed_amount' => MONEY,
          'mandate_identification' => MANDATE, 'creditor_name' => TEXT, 'creditor_ultimate_name' => TEXT,
          'creditor_account_identification' => TEXT
        )
      }
    },
    'query' => {
      required: %w[creation_date_time case_id investigation_type_code case_type narrative mandate_details],
      rules: {
        'creation_date_time' => TIMESTAMP,
        'case_id' => text(1..20),
        'investigation_type_code' => ->(v) { v == 'INV14' || (Fault.on?('any-investigation') && v.is_a?(String)) },
        'case_type' => CASE_TYPE, 'reminder_count' => text(1..2), 're_open_case_indication' => FLAG,
        'narrative' => NARRATIVE,
        'payment_details' => object('transaction_identification' => TEXT, 'instruction_identification' => TEXT,
                                    'transaction_date' => DATE, 'original_transaction_amount' => MONEY),
        'mandate_details' => object(
          'mps_user_id' => USER, 'mandate_identification' => MANDATE, 'establishment_scheme' => TEXT,
          'mandate_purpose_code' => TEXT, 'description' => TEXT, 'additional_information' => TEXT,
          'debtor_information' => texts(*PARTY), 'creditor_information' => texts('party_reference'),
          'payment_information' => object(
            'payment_frequency' => TEXT, 'payment_amount_type' => TEXT,
            'payment_execute_not_before_time' => TIME, 'count_per_period' => TEXT, 'point_in_time' => TEXT,
            'first_payment_amount' => MONEY, 'last_payment_amount' => MONEY, 'amount' => MONEY,
            'maximum_amount' => MONEY
          )
        )
      }
    }
  }.freeze

  def self.check_members(message, rules, required)
    required.each { |name| raise Invalid, "#{name} is missing" if message[name].nil? }
    rules.each do |name, rule|
      value = message[name]
      raise Invalid, "#{name} is not valid" unless value.nil? || rule.call(value)
    end
    true
  end

  def self.check(kind, message)
    raise Invalid, 'expected an object' unless message.is_a?(Hash)

    rules = KINDS.fetch(kind)
    required = rules[:required].dup
    required.delete('mandate_details') if Fault.on?('details-optional')
    check_members(message, rules[:rules], required)
    past = message['resolution_requested_by']
    return unless past && Fault.on?('expires-early') && past < Time.now.utc.strftime('%FT%TZ')

    raise Invalid, 'the action has expired'
  end
end
