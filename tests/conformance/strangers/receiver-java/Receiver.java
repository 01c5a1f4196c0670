import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** The four webhook receivers of a customer. */
public final class Receiver {
    private static final int LARGEST_BODY = 1 << 20;

    enum Kind { OUTCOME, NOTIFICATION, PAYMENT, QUERY }

    private static final Map<String, Kind> PATHS = Map.of(
            "/payto/mandates/outcomes", Kind.OUTCOME,
            "/payto/mandates/notifications", Kind.NOTIFICATION,
            "/payto/mpirs/outcomes", Kind.PAYMENT,
            "/payto/queries", Kind.QUERY);

    private final String apiKey;
    private final SecuredPayload secured;
    private final Inbox inbox = new Inbox();

    private Receiver(String apiKey, SecuredPayload secured) {
        this.apiKey = apiKey;
        this.secured = secured;
    }

    public static void main(String[] args) throws Exception {
        if (args.length < 2) {
            System.err.println("usage: run FOLDER PORT [--fault NAME]...");
            System.exit(2);
        }
        for (int i = 2; i < args.length; i += 2) {
            if (!args[i].equals("--fault") || i + 1 == args.length) {
                System.err.println("unknown argument " + args[i]);
                System.exit(2);
            }
            Faults.names.add(args[i + 1]);
        }
        Path folder = Path.of(args[0]);
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(folder.resolve("receiver.properties"))) {
            properties.load(in);
        }
        KeyFactory rsa = KeyFactory.getInstance("RSA");
        PrivateKey decryption = rsa.generatePrivate(new PKCS8EncodedKeySpec(pem(folder.resolve("keys/encryption.pem"))));
        Map<String, PublicKey> verifying = new LinkedHashMap<>();
        for (String bits : List.of("2048", "4096")) {
            verifying.put(properties.getProperty("signing_" + bits + "_kid"),
                    rsa.generatePublic(new X509EncodedKeySpec(pem(folder.resolve("keys/signing-" + bits + ".pub.pem")))));
        }
        Receiver receiver = new Receiver(properties.getProperty("api_key"),
                new SecuredPayload(decryption, properties.getProperty("encryption_kid"), verifying));

        KeyStore store = KeyStore.getInstance("PKCS12");
        char[] password = "changeit".toCharArray();
        try (InputStream in = Files.newInputStream(folder.resolve("server.p12"))) {
            store.load(in, password);
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);

        int port = Integer.parseInt(args[1]);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 128);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.setExecutor(Executors.newFixedThreadPool(32));
        server.createContext("/", receiver::handle);
        server.start();
        port = server.getAddress().getPort();
        Path toml = folder.resolve("receiver.toml");
        Files.writeString(toml, Files.readString(toml).replaceFirst("localhost:[0-9]+", "localhost:" + port));
        System.out.println("ready " + port);
        System.out.flush();
    }

    private static byte[] pem(Path file) throws IOException {
        String text = Files.readString(file).replaceAll("-----[A-Z ]+-----", "");
        return Base64.getMimeDecoder().decode(text);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try {
            byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
            String id = receive(exchange, body);
            if (Faults.on("ack-empty") && exchange.getRequestURI().getPath().equals("/payto/queries")) {
                exchange.sendResponseHeaders(204, -1);
                return;
            }
            ObjectNode ack = Json.MAPPER.createObjectNode();
            ack.put("id", Faults.on("ack-id-no-hyphens") ? id.replace("-", "") : id);
            ack.put("status", Faults.on("ack-status") ? "RECEIVED" : "RCVD");
            answer(exchange, 200, ack);
        } catch (Refused e) {
            if (e.status == 400 || e.status == 500) {
                answer(exchange, e.status, problem(e.status, e.getMessage()));
            } else {
                if (e.status == 405) {
                    exchange.getResponseHeaders().set("Allow", "POST");
                }
                exchange.sendResponseHeaders(e.status, -1);
            }
        } catch (RuntimeException e) {
            System.err.println("internal error: " + e);
            answer(exchange, 500, problem(500, "internal error"));
        } finally {
            exchange.close();
        }
    }

    private static ObjectNode problem(int status, String detail) {
        ObjectNode body = Json.MAPPER.createObjectNode();
        body.put("status", String.valueOf(status));
        body.put("title", status == 400 ? "Bad Request" : "Internal Server Error");
        body.put("detail", detail);
        return body;
    }

    private static void answer(HttpExchange exchange, int status, JsonNode body) throws IOException {
        byte[] bytes = Json.MAPPER.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    /** Takes one delivery in and returns the id of its acknowledgement. */
    private String receive(HttpExchange exchange, byte[] body) throws Refused {
        Kind kind = PATHS.get(exchange.getRequestURI().getPath());
        if (kind == null) {
            throw new Refused(404, "unknown path");
        }
        if (!exchange.getRequestMethod().equals("POST")) {
            throw new Refused(405, "only POST");
        }
        String key = exchange.getRequestHeaders().getFirst("apikey");
        if (key == null || !MessageDigest.isEqual(key.getBytes(StandardCharsets.UTF_8), apiKey.getBytes(StandardCharsets.UTF_8))) {
            throw new Refused(401, "API key");
        }
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        if (type == null || !type.split(";")[0].trim().equalsIgnoreCase("application/json")) {
            throw new Refused(415, "content type");
        }
        if (body.length > LARGEST_BODY) {
            throw new Refused(413, "too large");
        }
        String messageId = checkHeaders(exchange, kind);

        JsonNode envelope = Json.object(body, "body");
        JsonNode payload = envelope.get("secured_payload");
        if (payload == null && Faults.on("payload-missing")) {
            return UUID.randomUUID().toString();
        }
        if (payload == null || !payload.isTextual()) {
            throw Refused.bad("secured_payload is missing or not a string");
        }
        JsonNode message = Json.object(secured.open(payload.textValue()), "message");
        switch (kind) {
            case OUTCOME: Messages.outcome(message); break;
            case NOTIFICATION: Messages.notification(message); break;
            case PAYMENT: Messages.payment(message); break;
            default: Messages.query(message);
        }
        return inbox.take(kind, messageId, (ObjectNode) message);
    }

    private static String checkHeaders(HttpExchange exchange, Kind kind) throws Refused {
        String messageId = exchange.getRequestHeaders().getFirst("X-Message-Id");
        if (messageId == null) {
            if (!(kind == Kind.NOTIFICATION && Faults.on("message-id-optional"))) {
                throw Refused.bad("X-Message-Id is missing");
            }
            messageId = "";
        } else if (!Messages.isUuid(messageId) && !Faults.on("message-id-any")) {
            throw Refused.bad("X-Message-Id is not a UUID");
        } else if (Faults.on("message-id-v4-only") && !Messages.isUuid4(messageId)) {
            throw Refused.bad("X-Message-Id is not a UUID");
        }

        String requestKey = exchange.getRequestHeaders().getFirst("X-RequestKey");
        if (kind == Kind.OUTCOME || kind == Kind.PAYMENT) {
            if (requestKey == null) {
                if (!(kind == Kind.OUTCOME && Faults.on("request-key-optional"))) {
                    throw Refused.bad("X-RequestKey is missing");
                }
            } else if (!Messages.isUuid(requestKey) && !(kind == Kind.PAYMENT && Faults.on("request-key-any"))) {
                throw Refused.bad("X-RequestKey is not a UUID");
            }
            String correlation = exchange.getRequestHeaders().getFirst("X-Correlation-Id");
            if (correlation == null) {
                if (kind == Kind.OUTCOME && Faults.on("correlation-id-demanded")) {
                    throw Refused.bad("X-Correlation-Id is missing");
                }
            } else if (!Messages.isUuid(correlation) && !Faults.on("correlation-id-any")) {
                throw Refused.bad("X-Correlation-Id is not a UUID");
            }
        } else if (kind == Kind.QUERY && requestKey == null && Faults.on("request-key-demanded")) {
            throw Refused.bad("X-RequestKey is missing");
        }

        String priority = exchange.getRequestHeaders().getFirst("priority");
        if (priority != null) {
            if (Faults.on("priority-any-case")) {
                priority = priority.toUpperCase(java.util.Locale.ROOT);
            }
            boolean attended = kind != Kind.QUERY || Faults.on("query-attended");
            if (kind == Kind.NOTIFICATION && Faults.on("attended-refused")) {
                attended = false;
            }
            if (!(priority.equals("UNATTENDED") || attended && priority.equals("ATTENDED"))) {
                throw Refused.bad("priority is not as agreed");
            }
        }
        return messageId;
    }
}

/** What has been received, and the ids of the acknowledgements. */
final class Inbox {
    private static final int MOST_KEYS = 200_000;
    private static final String CONSTANT_ID = UUID.randomUUID().toString();

    private static final class Stored {
        final JsonNode content;
        final String id;

        Stored(JsonNode content, String id) {
            this.content = content;
            this.id = id;
        }
    }

    /** All messages by their duplicate check key; one key may have several that differ. */
    private final Map<String, List<Stored>> byKey = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, List<Stored>> eldest) {
            return size() > (Faults.on("duplicate-forgotten") ? 8 : MOST_KEYS);
        }
    };
    private final Set<String> settled = new HashSet<>();

    String take(Receiver.Kind kind, String messageId, ObjectNode message) throws Refused {
        List<String> keys = keys(kind, messageId, message);
        JsonNode content = content(message);
        if (Faults.on("duplicate-race")) {
            String known;
            synchronized (this) {
                known = find(keys, content, true);
            }
            if (known != null) {
                return known;
            }
            try {
                Thread.sleep(250); // the time that a busy database takes
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            synchronized (this) {
                return store(keys, content);
            }
        }
        synchronized (this) {
            if (kind == Receiver.Kind.PAYMENT && Faults.on("late-refused")) {
                refuseLate(message);
            }
            String known = find(keys, content, comparesContent(kind));
            if (known == null || Faults.on("duplicate-new-id")) {
                // News, or the same key with other content: a conflict or, for a mandate outcome, a follow-up. Both are kept.
                return store(keys, content);
            }
            if (Faults.on("duplicate-409")) {
                throw new Refused(409, "duplicate");
            }
            return known;
        }
    }

    private static boolean comparesContent(Receiver.Kind kind) {
        switch (kind) {
            case NOTIFICATION: return !Faults.on("notification-by-mandate");
            case PAYMENT: return !Faults.on("payment-no-status");
            case QUERY: return !(Faults.on("query-no-reminder") || Faults.on("query-no-reopen") || Faults.on("query-key-joined"));
            default: return true;
        }
    }

    private String find(List<String> keys, JsonNode content, boolean compare) {
        for (String key : keys) {
            for (Stored stored : byKey.getOrDefault(key, List.of())) {
                if (!compare || stored.content.equals(content)) {
                    return stored.id;
                }
            }
        }
        return null;
    }

    private String store(List<String> keys, JsonNode content) {
        Stored stored = new Stored(content, Faults.on("ack-id-constant") ? CONSTANT_ID : UUID.randomUUID().toString());
        for (String key : keys) {
            byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(stored);
        }
        return stored.id;
    }

    private void refuseLate(JsonNode message) throws Refused {
        String status = message.path("transaction_status").asText();
        for (String name : List.of("instruction_identification", "uetr")) {
            if (message.hasNonNull(name)) {
                String payment = name + " " + message.get(name).asText();
                if (settled.contains(payment) && (status.equals("ACSP") || status.equals("PDNG"))) {
                    throw new Refused(409, "the payment has settled");
                }
                if (status.equals("ACSC")) {
                    settled.add(payment);
                }
            }
        }
    }

    /** The keys of a message, of which one in common is enough; X-Message-Id when it has none of its own. */
    private static List<String> keys(Receiver.Kind kind, String messageId, JsonNode m) {
        List<String> keys = new ArrayList<>();
        switch (kind) {
            case OUTCOME:
                if (m.hasNonNull("request_id") && !Faults.on("duplicate-message-id")) {
                    keys.add(key(kind, "request", m.get("request_id")));
                }
                break;
            case NOTIFICATION:
                String name = Faults.on("notification-by-mandate") ? "mandate_identification" : "action_identification";
                keys.add(key(kind, "action", m.get(name)));
                break;
            case PAYMENT:
                JsonNode status = Faults.on("payment-no-status") ? null : m.get("transaction_status");
                if (m.hasNonNull("instruction_identification")) {
                    keys.add(key(kind, "instruction", m.get("instruction_identification"), status));
                }
                if (m.hasNonNull("uetr") && !Faults.on("payment-no-uetr")) {
                    keys.add(key(kind, "uetr", m.get("uetr"), status));
                }
                break;
            default:
                JsonNode reminder = Faults.on("query-no-reminder") ? null : m.get("reminder_count");
                JsonNode reopen = Faults.on("query-no-reopen") ? null : m.get("re_open_case_indication");
                if (Faults.on("query-key-joined")) {
                    keys.add("QUERY " + m.get("case_id").asText() + (reminder == null ? "" : reminder.asText()) + (reopen == null ? "" : reopen.asText()));
                } else {
                    keys.add(key(kind, "case", m.get("case_id"), reminder, reopen));
                }
        }
        if (keys.isEmpty()) {
            keys.add(kind + " message " + messageId.toLowerCase(java.util.Locale.ROOT));
        }
        return keys;
    }

    /** Joins the parts as a JSON array, so that an absent part differs from an empty one. */
    private static String key(Receiver.Kind kind, String what, JsonNode... parts) {
        ArrayNode array = Json.MAPPER.createArrayNode();
        array.add(kind.name()).add(what);
        for (JsonNode part : parts) {
            array.add(part);
        }
        return array.toString();
    }

    /** The message without its time of creation and without members that are null. */
    private static JsonNode content(ObjectNode message) {
        ObjectNode copy = message.deepCopy();
        if (!Faults.on("duplicate-by-second")) {
            copy.remove("creation_date_time");
        }
        dropNulls(copy);
        return copy;
    }

    private static void dropNulls(JsonNode node) {
        if (node.isObject()) {
            node.elements().forEachRemaining(Inbox::dropNulls);
            for (Iterator<JsonNode> members = node.elements(); members.hasNext(); ) {
                if (members.next().isNull()) {
                    members.remove();
                }
            }
        } else if (node.isArray()) {
            node.forEach(Inbox::dropNulls);
        }
    }
}

final class Json {
    static final ObjectMapper MAPPER = new ObjectMapper()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private Json() {
    }

    /** Reads one JSON object in UTF-8 without repeated members. */
    static JsonNode object(byte[] bytes, String what) throws Refused {
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            JsonNode node = MAPPER.readTree(text);
            if (node != null && node.isObject()) {
                return node;
            }
        } catch (CharacterCodingException | com.fasterxml.jackson.core.JsonProcessingException e) {
            // refused below
        }
        throw Refused.bad("the " + what + " is not a JSON object");
    }
}

/** Faults that were switched on by name. */
final class Faults {
    static final Set<String> names = new HashSet<>();

    private Faults() {
    }

    static boolean on(String name) {
        return names.contains(name);
    }
}

/** A delivery that is not accepted, with the status that it is answered with. */
final class Refused extends Exception {
    final int status;

    Refused(int status, String detail) {
        super(detail);
        this.status = status;
    }

    static Refused bad(String detail) {
        return new Refused(400, detail);
    }
}
