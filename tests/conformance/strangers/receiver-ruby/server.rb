# The receivers of a customer: server.rb FOLDER PORT [--fault NAME].
require 'socket'
require 'openssl'
require 'json'
require 'securerandom'
require 'time'

module Fault
  NAME = ARGV[2] == '--fault' ? ARGV[3].to_s : ''
  KNOWN = File.readlines(File.join(__dir__, 'faults.tsv')).map { |line| line[/\A[a-z0-9-]+/] }.compact
  abort "no fault is named #{NAME}" unless NAME.empty? || KNOWN.include?(NAME)
  def self.on?(name) = NAME == name
end

require_relative 'secured_payload'
require_relative 'messages'
require_relative 'inbox'

class Receivers
  PATHS = {
    '/payto/mandates/outcomes' => 'outcome',
    '/payto/mandates/notifications' => 'notification',
    '/payto/mpirs/outcomes' => 'payment',
    '/payto/queries' => 'query'
  }.freeze

  def initialize(folder)
    read = ->(name) { OpenSSL::PKey.read(File.read(File.join(folder, name))) }
    provider = Dir.glob(File.join(folder, 'provider*.pub.pem')).sort.map { |file| OpenSSL::PKey.read(File.read(file)) }
    @payloads = SecuredPayload.new(read.call('decryption.pem'), provider)
    @api_key = File.read(File.join(folder, 'api-key')).strip
    @inbox = Inbox.new(folder)
  end

  # Returns status, headers and body of the answer to a request.
  def answer(method, path, headers, body)
    kind = PATHS[path] or return problem(404, 'Not Found', 'no receiver is here')
    return problem(405, 'Method Not Allowed', 'expected POST', 'Allow' => 'POST') unless method == 'POST'
    unless OpenSSL.secure_compare(headers['apikey'].to_s, @api_key)
      return problem(401, 'Unauthorized', 'the API key is missing or wrong')
    end
    unless headers['content-type'].to_s.match?(%r{\Aapplication/json\s*(;|\z)}i)
      return problem(415, 'Unsupported Media Type', 'expected application/json')
    end

    check_headers(kind, headers)
    acknowledge(@inbox.take(kind, headers, message(kind, headers, body)))
  rescue Messages::Invalid => e
    problem(400, 'Bad Request', e.message)
  rescue SecuredPayload::Refused
    problem(400, 'Bad Request', 'the secured payload is not valid')
  rescue Inbox::TooLate
    problem(409, 'Conflict', 'the message comes too late')
  end

  def problem(status, title, detail, headers = {})
    [status, headers, JSON.generate('status' => status.to_s, 'title' => title, 'detail' => detail)]
  end

  private

  def check_headers(kind, headers)
    requested = %w[outcome payment].include?(kind)
    required = %w[x-message-id]
    required << 'x-requestkey' if requested || Fault.on?('request-key-everywhere')
    required << 'x-correlation-id' if requested && Fault.on?('correlation-needed')
    required.delete('x-message-id') if Fault.on?('message-id-optional')
    required.each { |name| raise Messages::Invalid, "the header #{name} is missing" if headers[name].nil? }
    checked = %w[x-message-id]
    checked.push('x-requestkey', 'x-correlation-id') if requested
    checked.delete('x-message-id') if Fault.on?('any-message-id')
    checked.each do |name|
      value = headers[name]
      raise Messages::Invalid, "the header #{name} is not a UUID" unless value.nil? || Messages::UUID.match?(value)
    end
    check_priority(kind, headers['priority'])
  end

  def check_priority(kind, priority)
    known = kind == 'query' ? %w[UNATTENDED] : %w[ATTENDED UNATTENDED]
    known = %w[ATTENDED UNATTENDED] if Fault.on?('attended-query')
    raise Messages::Invalid, 'the header priority is not valid' unless priority.nil? || known.include?(priority)
  end

  def message(kind, headers, body)
    envelope = parse(body)
    raise Messages::Invalid, 'expected an object' unless envelope.is_a?(Hash)

    secured = envelope['secured_payload']
    raise Messages::Invalid, 'secured_payload is missing' unless secured.is_a?(String)

    begin
      message = parse(@payloads.open(secured))
    rescue SecuredPayload::Refused
      @inbox.list_unverified(headers) if Fault.on?('handled-unverified')
      raise
    end
    Messages.check(kind, message)
    message
  end

  def parse(bytes)
    text = bytes.dup.force_encoding('UTF-8')
    raise Messages::Invalid, 'expected UTF-8' unless text.valid_encoding?

    JSON.parse(text, max_nesting: 32)
  rescue JSON::ParserError
    raise Messages::Invalid, 'expected JSON'
  end

  def acknowledge(id)
    body = { 'id' => id, 'status' => 'RCVD' }
    body['status'] = 'RECEIVED' if Fault.on?('ack-status')
    body['id'] = id.delete('-') if Fault.on?('ack-id-short')
    [200, {}, JSON.generate(body)]
  end
end

# HTTP/1.1 over TLS, one thread for each connection.
class Server
  MAX_BODY_BYTES = 4 * 1024 * 1024
  MAX_HEADER_BYTES = 64 * 1024
  MAX_CONNECTIONS = 256
  REASONS = { 200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 404 => 'Not Found', 405 => 'Method Not Allowed',
              408 => 'Request Timeout', 409 => 'Conflict', 413 => 'Content Too Large', 415 => 'Unsupported Media Type',
              431 => 'Request Header Fields Too Large', 500 => 'Internal Server Error' }.freeze

  class Malformed < StandardError
    attr_reader :status

    def initialize(status) = super(@status = status)
  end

  def initialize(folder, port, receivers)
    @receivers = receivers
    @context = OpenSSL::SSL::SSLContext.new
    @context.min_version = OpenSSL::SSL::TLS1_2_VERSION
    @context.add_certificate(
      OpenSSL::X509::Certificate.new(File.read(File.join(folder, 'server.pem'))),
      OpenSSL::PKey.read(File.read(File.join(folder, 'server-key.pem')))
    )
    @listener = TCPServer.new('127.0.0.1', port)
    @listener.listen(512)
    @slots = SizedQueue.new(MAX_CONNECTIONS)
  end

  def run
    puts "ready: https://localhost:#{@listener.addr[1]}"
    loop do
      socket = @listener.accept
      @slots << true
      Thread.new { serve(socket) }
    rescue SystemCallError => e
      warn "accept: #{e.message}"
    end
  end

  private

  def serve(socket)
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    tls = OpenSSL::SSL::SSLSocket.new(socket, @context)
    tls.sync_close = true
    Timeout.timeout(10) { tls.accept }
    nil while exchange(tls)
  rescue OpenSSL::SSL::SSLError, SystemCallError, IOError, Timeout::Error, Malformed
    nil
  ensure
    @slots.pop
    begin
      (tls || socket).close
    rescue StandardError
      nil
    end
  end

  # Answers one request, and returns true if the connection stays open.
  def exchange(tls)
    line, headers = Timeout.timeout(30) { read_head(tls) }
    return false if line.nil?

    method, path, version = line.split(' ', 3)
    raise Malformed, 400 unless version&.match?(%r{\AHTTP/1\.[01]\z})

    tls.write("HTTP/1.1 100 Continue\r\n\r\n") if headers['expect'].to_s.casecmp?('100-continue')
    body = Timeout.timeout(30) { read_body(tls, headers) }
    stays = version == 'HTTP/1.1' && !headers['connection'].to_s.casecmp?('close')
    begin
      status, more, text = @receivers.answer(method, path.split('?', 2).first, headers, body)
    rescue StandardError => e
      warn "#{method} #{path}: #{e.full_message(highlight: false)}"
      status, more, text = @receivers.problem(500, 'Internal Server Error', 'the receiver failed')
    end
    write(tls, status, more, text, stays, method)
    stays
  rescue Malformed => e
    write(tls, e.status, {}, @receivers.problem(e.status, REASONS[e.status], 'the request is malformed').last, false, '')
    false
  end

  def read_head(tls)
    line = tls.gets("\r\n", MAX_HEADER_BYTES) or return nil
    raise Malformed, 431 unless line.end_with?("\r\n")

    headers = {}
    size = line.size
    while (field = tls.gets("\r\n", MAX_HEADER_BYTES))
      size += field.size
      raise Malformed, 431 if size > MAX_HEADER_BYTES
      break if field == "\r\n"

      name, value = field.chomp.split(':', 2)
      raise Malformed, 400 if value.nil? || name.match?(/\s|\A\z/)

      name = name.downcase
      raise Malformed, 400 if headers.key?(name) && %w[content-length x-message-id x-requestkey apikey].include?(name)

      headers[name] = value.strip
    end
    [line.chomp, headers]
  end

  def read_body(tls, headers)
    return read_chunks(tls) if headers['transfer-encoding'].to_s.casecmp?('chunked')

    length = headers.fetch('content-length', '0')
    raise Malformed, 400 unless length.match?(/\A\d{1,18}\z/)
    raise Malformed, 413 if length.to_i > MAX_BODY_BYTES

    body = tls.read(length.to_i) || ''
    raise Malformed, 400 if body.bytesize < length.to_i

    body
  end

  def read_chunks(tls)
    body = +''
    loop do
      size = tls.gets("\r\n", 1024).to_s[/\A\h{1,8}/] or raise Malformed, 400
      size = size.to_i(16)
      raise Malformed, 413 if body.bytesize + size > MAX_BODY_BYTES

      body << tls.read(size).to_s
      end_of_chunk = tls.gets("\r\n", MAX_HEADER_BYTES)
      return body if size.zero? && end_of_chunk == "\r\n"
      raise Malformed, 400 unless size.zero? || end_of_chunk == "\r\n"
    end
  end

  def write(tls, status, more, text, stays, method)
    head = ["HTTP/1.1 #{status} #{REASONS.fetch(status, 'Status')}", "Date: #{Time.now.httpdate}",
            'Content-Type: application/json', "Content-Length: #{text.bytesize}",
            "Connection: #{stays ? 'keep-alive' : 'close'}", *more.map { |name, value| "#{name}: #{value}" }]
    tls.write("#{head.join("\r\n")}\r\n\r\n#{method == 'HEAD' ? '' : text}")
  end
end

require 'timeout'
abort 'usage: server.rb FOLDER PORT [--fault NAME]' if ARGV.size < 2
folder, port = ARGV
trap('TERM') { exit!(0) }
trap('INT') { exit!(0) }
$stdout.sync = true
Server.new(folder, Integer(port), Receivers.new(folder)).run
