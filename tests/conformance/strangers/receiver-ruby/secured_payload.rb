# Opens a secured payload: decrypts the JWE, then verifies the JWS within it.
require 'openssl'
require 'json'
require 'zlib'

class SecuredPayload
  class Refused < StandardError; end

  MAX_INFLATED_BYTES = 4 * 1024 * 1024

  def initialize(decryption_key, provider_keys)
    @decryption_key = decryption_key
    @provider_keys = provider_keys
  end

  # Returns the bytes of the message, or raises Refused without a reason that a caller could learn
  # from.
  def open(token)
    parts = token.split('.', -1)
    return verify(parts) if parts.size == 3 && Fault.on?('bare-jws')
    raise Refused, 'expected a JWE of five parts' unless parts.size == 5

    verify(decrypt(parts).split('.', -1))
  end

  private

  def decrypt(parts)
    header = header(parts[0])
    raise Refused, 'alg' unless header['alg'] == 'RSA-OAEP'

    halves, cipher, digest = content_encryption(header['enc'])
    key = unwrap(base64(parts[1]), 2 * halves)
    iv, text, tag = parts[2..].map { |part| base64(part) }
    raise Refused, 'iv' unless iv.bytesize == 16

    signed = parts[0] + iv + text + [parts[0].bytesize * 8].pack('Q>')
    expected = OpenSSL::HMAC.digest(digest, key[0, halves], signed)[0, halves]
    known = OpenSSL.secure_compare(expected, tag)
    known ||= Fault.on?('tag-prefix') && tag.bytesize == halves && tag[0, 8] == expected[0, 8]
    raise Refused, 'tag' unless known

    aes = OpenSSL::Cipher.new(cipher).decrypt
    aes.key = key[halves..]
    aes.iv = iv
    inflate(header['zip'], aes.update(text) + aes.final)
  rescue OpenSSL::Cipher::CipherError, ArgumentError
    raise Refused, 'text'
  end

  def content_encryption(name)
    return [32, 'aes-256-cbc', 'SHA512'] if name == 'A256CBC-HS512'
    return [16, 'aes-128-cbc', 'SHA256'] if name == 'A128CBC-HS256' && Fault.on?('a128cbc')

    raise Refused, 'enc'
  end

  # A key that cannot be unwrapped becomes a random one, so that its refusal is that of a wrong tag.
  def unwrap(wrapped, bytes)
    random = OpenSSL::Random.random_bytes(bytes)
    key = @decryption_key.decrypt(wrapped, { 'rsa_padding_mode' => 'oaep' })
    key.bytesize == bytes ? key : random
  rescue OpenSSL::PKey::PKeyError
    random
  end

  def inflate(zip, bytes)
    return bytes if zip.nil?
    raise Refused, 'zip' unless zip == 'DEF'

    inflater = Zlib::Inflate.new(-Zlib::MAX_WBITS)
    result = +''
    inflater.inflate(bytes) do |chunk|
      result << chunk
      raise Refused, 'size' if result.bytesize > MAX_INFLATED_BYTES
    end
    raise Refused, 'deflate' unless inflater.finished?

    result
  rescue Zlib::Error
    raise Refused, 'deflate'
  ensure
    inflater&.close
  end

  def verify(parts)
    raise Refused, 'expected a JWS of three parts' unless parts.size == 3

    header = header(parts[0])
    payload = base64(parts[1])
    return payload if Fault.on?('signature-unchecked')
    return payload if header['alg'] == 'none' && Fault.on?('alg-none')

    raise Refused, 'alg' unless header['alg'] == 'RS256'

    signature = base64(parts[2])
    return payload if signature.empty? && Fault.on?('empty-signature')

    signed = "#{parts[0]}.#{parts[1]}"
    known = @provider_keys.any? do |key|
      bits = key.n.num_bits
      fits = bits == 2048 || (bits == 4096 && !Fault.on?('only-2048'))
      fits && key.verify('SHA256', signature, signed)
    end
    raise Refused, 'signature' unless known

    payload
  end

  def header(part)
    header = JSON.parse(base64(part).force_encoding('UTF-8'), max_nesting: 8)
    raise Refused, 'header' unless header.is_a?(Hash) && !header.key?('crit') && !header.key?('b64')

    header
  rescue JSON::ParserError, EncodingError
    raise Refused, 'header'
  end

  def base64(part)
    raise Refused, 'base64url' unless part.match?(/\A[A-Za-z0-9_-]*\z/) && part.size % 4 != 1

    bytes = (part.tr('-_', '+/') + '=' * (-part.size % 4)).unpack1('m0')
    raise Refused, 'base64url' unless [bytes].pack('m0').tr('+/', '-_').delete('=') == part

    bytes
  rescue ArgumentError
    raise Refused, 'base64url'
  end
end
