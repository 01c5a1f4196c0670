import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;

/** Decrypts (JWE) and verifies (JWS) a secured payload. */
final class SecuredPayload {
    private static final int LARGEST_MESSAGE = 1 << 20;

    private final PrivateKey decryptionKey;
    private final String decryptionKid;
    private final Map<String, PublicKey> verifyingKeys;

    SecuredPayload(PrivateKey decryptionKey, String decryptionKid, Map<String, PublicKey> verifyingKeys) {
        this.decryptionKey = decryptionKey;
        this.decryptionKid = decryptionKid;
        this.verifyingKeys = verifyingKeys;
    }

    /** Returns the JSON message. The sender learns nothing but that it is not acceptable. */
    byte[] open(String compact) throws Refused {
        try {
            String[] parts = compact.split("\\.", -1);
            if (parts.length == 3 && Faults.on("bare-jws")) {
                return verify(parts);
            }
            if (parts.length == 3 && Faults.on("encrypt-then-sign")) {
                String inner = new String(verify(parts), StandardCharsets.UTF_8);
                return decrypt(inner.split("\\.", -1));
            }
            byte[] plain = decrypt(parts);
            if (plain.length > 0 && plain[0] == '{' && Faults.on("unsigned-inside")) {
                return plain;
            }
            String signed = new String(plain, StandardCharsets.US_ASCII);
            return verify(signed.split("\\.", -1));
        } catch (GeneralSecurityException | DataFormatException | RuntimeException | Refused e) {
            throw Refused.bad("secured_payload cannot be decrypted and verified");
        }
    }

    // JWE.

    private byte[] decrypt(String[] parts) throws Refused, GeneralSecurityException, DataFormatException {
        if (parts.length != 5) {
            throw Refused.bad("not a JWE");
        }
        JsonNode header = header(parts[0]);
        if (header.has("crit")) {
            throw Refused.bad("crit");
        }
        if (header.has("kid") && !decryptionKid.equals(header.path("kid").textValue())) {
            throw Refused.bad("kid");
        }
        String zip = null;
        if (header.has("zip")) {
            zip = header.path("zip").textValue();
            if (!"DEF".equals(zip)) {
                throw Refused.bad("zip");
            }
        }
        String enc = header.path("enc").textValue();
        byte[] key = unwrapKey(header.path("alg").textValue(), decode(parts[1]));
        byte[] aad = parts[0].getBytes(StandardCharsets.US_ASCII);
        byte[] iv = decode(parts[2]);
        byte[] ciphertext = decode(parts[3]);
        byte[] tag = decode(parts[4]);

        byte[] plain;
        if ("A256CBC-HS512".equals(enc)) {
            plain = cbc(key, 32, "HmacSHA512", aad, iv, ciphertext, tag);
        } else if ("A128CBC-HS256".equals(enc) && Faults.on("jwe-enc-a128cbc")) {
            plain = cbc(key, 16, "HmacSHA256", aad, iv, ciphertext, tag);
        } else if ("A256GCM".equals(enc) && Faults.on("jwe-enc-a256gcm")) {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, iv));
            cipher.updateAAD(aad);
            cipher.update(ciphertext);
            byte[] all = Arrays.copyOf(ciphertext, ciphertext.length + tag.length);
            System.arraycopy(tag, 0, all, ciphertext.length, tag.length);
            cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, iv));
            cipher.updateAAD(aad);
            plain = cipher.doFinal(all);
        } else {
            throw Refused.bad("enc");
        }
        return zip == null ? plain : inflate(plain);
    }

    private byte[] unwrapKey(String alg, byte[] encrypted) throws Refused, GeneralSecurityException {
        if ("RSA-OAEP".equals(alg)) {
            return oaep("SHA-1", MGF1ParameterSpec.SHA1, encrypted);
        }
        if ("RSA-OAEP-256".equals(alg) && Faults.on("jwe-oaep-256")) {
            return oaep("SHA-256", MGF1ParameterSpec.SHA256, encrypted);
        }
        if ("RSA1_5".equals(alg) && Faults.on("jwe-rsa1-5")) {
            Cipher cipher = Cipher.getInstance("RSA/ECB/PKCS1Padding");
            cipher.init(Cipher.DECRYPT_MODE, decryptionKey);
            return cipher.doFinal(encrypted);
        }
        throw Refused.bad("alg");
    }

    private byte[] oaep(String digest, MGF1ParameterSpec mask, byte[] encrypted) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("RSA/ECB/OAEPPadding");
        cipher.init(Cipher.DECRYPT_MODE, decryptionKey, new OAEPParameterSpec(digest, "MGF1", mask, PSource.PSpecified.DEFAULT));
        return cipher.doFinal(encrypted);
    }

    private static byte[] cbc(byte[] key, int half, String hmac, byte[] aad, byte[] iv, byte[] ciphertext, byte[] tag)
            throws Refused, GeneralSecurityException {
        if (key.length != 2 * half || iv.length != 16) {
            throw Refused.bad("sizes");
        }
        byte[] macKey = Arrays.copyOfRange(key, 0, half);
        byte[] expected = Arrays.copyOf(mac(hmac, macKey, aad, iv, ciphertext), half);
        boolean same = MessageDigest.isEqual(expected, tag);
        if (Faults.on("jwe-tag-half")) {
            same = tag.length == half && MessageDigest.isEqual(Arrays.copyOf(expected, half / 2), Arrays.copyOf(tag, half / 2));
        }
        if (Faults.on("jwe-tag-without-aad")) {
            byte[] bare = Arrays.copyOf(mac(hmac, macKey, new byte[0], iv, ciphertext), half);
            same = same || MessageDigest.isEqual(bare, tag);
        }
        if (!same && !Faults.on("jwe-tag-unchecked")) {
            throw Refused.bad("tag");
        }
        Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
        cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, half, half, "AES"), new IvParameterSpec(iv));
        return cipher.doFinal(ciphertext);
    }

    private static byte[] mac(String hmac, byte[] key, byte[] aad, byte[] iv, byte[] ciphertext) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(hmac);
        mac.init(new SecretKeySpec(key, hmac));
        mac.update(aad);
        mac.update(iv);
        mac.update(ciphertext);
        return mac.doFinal(ByteBuffer.allocate(8).putLong(8L * aad.length).array());
    }

    private static byte[] inflate(byte[] compressed) throws Refused, DataFormatException {
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(compressed);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            while (!inflater.finished()) {
                int n = inflater.inflate(buffer);
                if (n == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                    throw Refused.bad("incomplete");
                }
                out.write(buffer, 0, n);
                if (out.size() > LARGEST_MESSAGE) {
                    throw Refused.bad("too large");
                }
            }
            return out.toByteArray();
        } finally {
            inflater.end();
        }
    }

    // JWS.

    private byte[] verify(String[] parts) throws Refused, GeneralSecurityException {
        if (parts.length != 3) {
            throw Refused.bad("not a JWS");
        }
        JsonNode header = header(parts[0]);
        byte[] payload = decode(parts[1]);
        byte[] signature = decode(parts[2]);
        byte[] input = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
        if (header.has("crit") && !Faults.on("crit-ignored")) {
            throw Refused.bad("crit");
        }
        Collection<PublicKey> keys = verifyingKeys.values();
        if (header.has("kid")) {
            PublicKey key = verifyingKeys.get(String.valueOf(header.path("kid").textValue()));
            if (key == null) {
                if (!(header.has("jwk") && Faults.on("jwk-trusted"))) {
                    throw Refused.bad("kid");
                }
            } else {
                keys = List.of(key);
            }
        }
        if (header.has("jwk") && Faults.on("jwk-trusted")) {
            JsonNode jwk = header.get("jwk");
            keys = List.of(KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(
                    new BigInteger(1, decode(jwk.path("n").asText())), new BigInteger(1, decode(jwk.path("e").asText())))));
        }
        if (Faults.on("signature-unchecked")) {
            return payload;
        }
        String alg = header.path("alg").textValue();
        if (Faults.on("jws-alg-ignored")) {
            alg = "RS256";
        }
        for (PublicKey key : keys) {
            if (verifies(alg, key, input, signature)) {
                return payload;
            }
        }
        throw Refused.bad("signature");
    }

    private static boolean verifies(String alg, PublicKey key, byte[] input, byte[] signature) throws Refused, GeneralSecurityException {
        Signature verifier;
        if ("RS256".equals(alg)) {
            verifier = Signature.getInstance("SHA256withRSA");
        } else if (("RS384".equals(alg) || "RS512".equals(alg)) && Faults.on("jws-alg-rs512")) {
            verifier = Signature.getInstance("SHA" + alg.substring(2) + "withRSA");
        } else if ("PS256".equals(alg) && Faults.on("jws-alg-ps256")) {
            verifier = Signature.getInstance("RSASSA-PSS");
            verifier.setParameter(new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
        } else if ("none".equals(alg) && Faults.on("jws-alg-none")) {
            return signature.length == 0;
        } else if ("HS256".equals(alg) && Faults.on("jws-alg-hs256")) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key.getEncoded(), "HmacSHA256"));
            return MessageDigest.isEqual(mac.doFinal(input), signature);
        } else {
            throw Refused.bad("alg");
        }
        if (signature.length > 256 && Faults.on("jws-4096-refused")) {
            return false;
        }
        verifier.initVerify(key);
        verifier.update(input);
        try {
            return verifier.verify(signature);
        } catch (GeneralSecurityException e) {
            return false; // not of the length of this key
        }
    }

    private static JsonNode header(String part) throws Refused {
        return Json.object(decode(part), "header");
    }

    /** Base64url without padding, in its one canonical form. */
    private static byte[] decode(String text) throws Refused {
        byte[] bytes = Base64.getUrlDecoder().decode(text);
        if (!Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(text)) {
            throw Refused.bad("base64url");
        }
        return bytes;
    }
}
