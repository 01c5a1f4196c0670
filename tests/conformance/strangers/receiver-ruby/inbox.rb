# The durable inbox: every message once, and the state of each mandate and payment after it. A line
# of inbox.jsonl is a message that was kept; a line of handled.jsonl is what was made of it.
require 'json'
require 'securerandom'

class Inbox
  # Faults in whose keys something is missing drop what they take for a duplicate.
  DROPPING = %w[outcome-by-mandate payment-without-status reminder-dropped reopening-dropped].freeze
  PAYMENT_ORDER = { 'PDNG' => 0, 'ACSP' => 1, 'ACSC' => 2, 'RJCT' => 2 }.freeze

  def initialize(folder)
    @lock = Mutex.new
    @kept = {}
    @mandates = {}
    @payments = {}
    path = File.join(folder, 'inbox.jsonl')
    File.foreach(path) { |line| replay(JSON.parse(line)) } if File.exist?(path)
    @inbox = File.open(path, 'a')
    @handled = File.open(File.join(folder, 'handled.jsonl'), 'a')
    @count = 0
  end

  # Keeps a message and returns the id of its acknowledgement: the first one's for a duplicate.
  def take(kind, headers, message)
    if Fault.on?('race')
      known = @lock.synchronize { find(keys(kind, headers, message)) }
      sleep 0.05
      return known.first['ack'] unless known.empty?

      return @lock.synchronize { keep(kind, headers, message, keys(kind, headers, message)) }
    end
    @lock.synchronize do
      keys = keys(kind, headers, message)
      known = find(keys)
      next keep(kind, headers, message, keys) if known.all? { |line| progress?(kind, line['message'], message) }

      same = known.find { |line| without_time(line['message']) == without_time(message) }
      next conflict(kind, headers, message, keys) unless same || DROPPING.include?(Fault::NAME)

      note('event' => 'duplicate', 'kind' => kind, 'message_id' => headers['x-message-id'])
      (same || known.first)['ack']
    end
  end

  # Lists a message that was not kept, which only a fault does.
  def list_unverified(headers)
    @lock.synchronize { note('event' => 'message', 'message_id' => headers['x-message-id'], 'about' => [], 'state' => nil) }
  end

  class TooLate < StandardError; end

  private

  # The keys of the specification, under any of which a message is known again.
  def keys(kind, headers, message)
    return [['id', headers['x-message-id']]] if Fault.on?('by-message-id')

    keys = case kind
           when 'outcome' then outcome_keys(message)
           when 'notification' then [['notification', message['action_identification']]]
           when 'payment' then payment_keys(message)
           when 'query' then [query_key(message)]
           end
    keys.empty? ? [[kind, 'id', headers['x-message-id']]] : keys
  end

  def outcome_keys(message)
    return [['outcome', message['mandate_identification']]] if Fault.on?('outcome-by-mandate')

    [message['request_id']&.downcase].compact.map { |id| ['outcome', id] }
  end

  def payment_keys(message)
    status = Fault.on?('payment-without-status') ? '' : message['transaction_status']
    instruction = message['instruction_identification']
    instruction = nil if Fault.on?('only-uetr')
    [instruction && ['payment', 'instruction', instruction, status],
     message['uetr'] && ['payment', 'uetr', message['uetr'].downcase, status]].compact
  end

  def query_key(message)
    reminder = message['reminder_count']
    reminder = nil if Fault.on?('reminder-dropped')
    again = message['re_open_case_indication']
    again = nil if Fault.on?('reopening-dropped')
    ['query', message['case_id'], reminder, again]
  end

  # The messages that were kept under one of the keys.
  def find(keys) = keys.flat_map { |key| @kept.fetch(key, []) }.uniq

  # An outcome whose action was pending and has moved on is news under the request of before, in
  # whichever order the two arrive.
  def progress?(kind, known, message)
    statuses = [known['action_status'], message['action_status']]
    kind == 'outcome' && statuses.all? && statuses.count('PEND') == 1
  end

  # Another message under a known key is kept for somebody to look at, and changes nothing.
  def conflict(kind, headers, message, keys)
    line = { 'kind' => kind, 'headers' => headers, 'message' => message, 'keys' => keys, 'ack' => SecureRandom.uuid,
             'conflict' => true }
    write(@inbox, line)
    replay(line)
    note('event' => 'conflict', 'kind' => kind, 'message_id' => headers['x-message-id'])
    line['ack']
  end

  def without_time(message) = message.reject { |name, _| name == 'creation_date_time' }

  def keep(kind, headers, message, keys)
    line = { 'kind' => kind, 'headers' => headers, 'message' => message, 'keys' => keys, 'ack' => SecureRandom.uuid }
    raise TooLate if Fault.on?('order-refused') && too_late?(kind, message)

    @count += 1
    return line['ack'] if Fault.on?('loses-seventh') && (@count % 7).zero?

    write(@inbox, line) unless Fault.on?('keeps-nothing')
    about, state, effect = replay(line)
    note('event' => 'message', 'kind' => kind, 'message_id' => headers['x-message-id'], 'about' => about,
         'state' => state, 'effect' => effect)
    line['ack']
  end

  def write(file, line)
    file.write(JSON.generate(line) << "\n")
    file.flush
    file.fdatasync
  end

  def note(line) = write(@handled, line)

  def replay(line)
    line['keys'].each { |key| (@kept[key] ||= []) << line }
    @kept.shift while Fault.on?('forgets') && @kept.size > 4
    return if line['conflict']

    message = line['message']
    case line['kind']
    when 'payment' then payment(message)
    when 'query' then [[message['case_id']], nil, 'advanced']
    else mandate(message)
    end
  end

  def too_late?(kind, message)
    return false unless kind == 'payment'

    known = payment_names(message).filter_map { |name| @payments[name] }.first
    known && PAYMENT_ORDER.fetch(message['transaction_status'], 3) < PAYMENT_ORDER.fetch(known['status'], 3)
  end

  def payment_names(message)
    [message['instruction_identification'], message['uetr']&.downcase].compact
  end

  def payment(message)
    names = payment_names(message)
    state = names.filter_map { |name| @payments[name] }.first || { 'status' => nil, 'names' => [] }
    state['names'] |= names
    state['names'].each { |name| @payments[name] = state }
    status = message['transaction_status']
    rank = PAYMENT_ORDER.fetch(status, -1)
    known = PAYMENT_ORDER.fetch(state['status'], -1)
    known = -1 if Fault.on?('last-payment-wins')
    effect = rank > known ? 'advanced' : 'stale'
    effect = 'unchanged' if status == state['status']
    state['status'] = status if rank > known || state['status'].nil?
    [names, state['status'], effect]
  end

  def mandate(message)
    name = message['mandate_identification']
    return [[], nil, 'not_applicable'] if name.nil?

    state = (@mandates[name] ||= { 'status' => nil, 'time' => '' })
    status = message['mandate_status']
    return [[name], state['status'], 'unchanged'] if status.nil? || status == state['status']

    return [[name], state['status'], 'stale'] unless moves?(state, status, message['creation_date_time'])

    state['status'] = status
    state['time'] = message['creation_date_time']
    [[name], status, 'advanced']
  end

  def moves?(state, status, time)
    return true if state['status'].nil?
    return false if state['status'] == 'CNCD'
    return true if status == 'CNCD' || state['status'] == 'CRTD'
    return false if status == 'CRTD'

    time >= state['time']
  end
end
