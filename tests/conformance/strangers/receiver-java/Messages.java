import com.fasterxml.jackson.databind.JsonNode;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rules of the four message types. A member that is null is absent. */
final class Messages {
    private static final Pattern UUID = Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");
    private static final Pattern UUID4 = Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}");
    private static final Pattern TIME = Pattern.compile(
            "([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})?");
    private static final Pattern CLOCK = Pattern.compile("([0-9]{2}):([0-9]{2}):([0-9]{2})(\\.[0-9]{1,3})?(Z)?");
    private static final Pattern DATE = Pattern.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})");
    private static final Pattern AMOUNT = Pattern.compile("-?[0-9]{1,28}(\\.[0-9]{1,28})?");
    private static final Pattern CODE = Pattern.compile("[A-Z0-9]{4}");

    private static final List<String> ACTION_TYPES = List.of("AMND", "CREA", "PORT", "STCH");
    private static final List<String> ACTION_STATUSES = List.of("CMPL", "DECL", "PEND", "RECL", "TIMO");
    private static final List<String> MANDATE_STATUSES = List.of("ACTV", "CNCD", "CRTD", "SUSD");
    private static final List<String> TRIGGERS = List.of("MAMC", "MAMD", "MAMN", "MAMX", "MCRC", "MCRD", "MCRX", "MSCH");

    private Messages() {
    }

    static boolean isUuid(String s) {
        return UUID.matcher(s).matches();
    }

    static boolean isUuid4(String s) {
        return UUID4.matcher(s).matches();
    }

    // The messages.

    static void outcome(JsonNode m) throws Refused {
        created(m);
        if (Faults.on("status-case") && m.path("status").isTextual()) {
            code("status", m.path("status").textValue().toUpperCase(Locale.ROOT), List.of("RJCT", "SUCC"));
        } else {
            code(m, "status", true, List.of("RJCT", "SUCC"));
        }
        text(m, "mps_user_id", Faults.on("user-id-demanded"), 1, Faults.on("user-id-10") ? 9 : 10);
        String requestId = text(m, "request_id", false, 1, 1000);
        if (requestId != null) {
            boolean good = isUuid(requestId);
            if (Faults.on("request-id-v4-only")) {
                good = isUuid4(requestId);
            }
            if (Faults.on("request-id-no-hyphens")) {
                good = good || requestId.matches("[0-9a-fA-F]{32}");
            }
            check(good, "request_id");
        }
        mandateId(m, "mandate_identification", false);
        timestamp(m, "mandate_registration_date_time", false);
        if (Faults.on("mandate-status-susd")) {
            closedCode(m, "mandate_status", List.of("ACTV", "CNCD", "CRTD", "SUSP"));
        } else {
            code(m, "mandate_status", false, MANDATE_STATUSES);
        }
        actionId(m, false);
        code(m, "action_type", false, ACTION_TYPES);
        if (Faults.on("action-status-recl")) {
            closedCode(m, "action_status", List.of("CMPL", "DECL", "PEND", "TIMO"));
        } else {
            code(m, "action_status", false, ACTION_STATUSES);
        }
        if (!(Faults.on("bilateral-text") && m.path("bilateral").asText().matches("true|false"))) {
            bool(m, "bilateral");
        }
        text(m, "debtor_alias_name", false, 0, Integer.MAX_VALUE);
        timestamp(m, "resolution_requested_by", false);
        JsonNode error = object(m, "error", false);
        if (error != null) {
            texts(error, "code", "severity", "text", "user_message", "more_info");
        }
    }

    static void notification(JsonNode m) throws Refused {
        created(m);
        if (Faults.on("null-required") && m.has("trigger") && m.get("trigger").isNull()) {
            // taken for present
        } else if (Faults.on("trigger-mamn")) {
            present(m, "trigger");
            closedCode(m, "trigger", List.of("MAMC", "MAMD", "MAMX", "MCRC", "MCRD", "MCRX", "MSCH"));
        } else {
            code(m, "trigger", true, TRIGGERS);
        }
        text(m, "mps_user_id", !Faults.on("user-id-optional"), 1, Faults.on("user-id-11") ? 11 : Faults.on("user-id-10") ? 9 : 10);
        mandateId(m, "mandate_identification", true);
        code(m, "mandate_status", false, MANDATE_STATUSES);
        actionId(m, true);
        if (Faults.on("action-type-port")) {
            present(m, "action_type");
            closedCode(m, "action_type", List.of("AMND", "CREA", "STCH"));
        } else {
            code(m, "action_type", true, ACTION_TYPES);
        }
        code(m, "action_status", true, ACTION_STATUSES);
        JsonNode event = object(m, "resolution_event", false);
        if (event != null) {
            texts(event, "reason_code", "reason_description");
        }
        JsonNode details = object(m, "details", false);
        if (details != null) {
            details(details);
        }
    }

    private static void details(JsonNode details) throws Refused {
        JsonNode amendment = object(details, "amendment", false);
        JsonNode bilateral = object(details, "bilateral_amendment", false);
        JsonNode change = object(details, "status_change", false);
        int variants = (amendment == null ? 0 : 1) + (bilateral == null ? 0 : 1) + (change == null ? 0 : 1);
        check(variants == 1 || variants == 2 && Faults.on("two-variants"), "details");
        if (amendment != null) {
            JsonNode debtor = object(amendment, "debtor_information", false);
            if (debtor != null) {
                texts(debtor, "party_type", "party_name", "ultimate_party_name", "account_identification_type_code",
                        "account_identification", "account_alias_type_code", "account_alias_identification", "party_reference");
                alias(debtor);
            }
        }
        if (change != null) {
            texts(change, "change", "reason_code", "reason_description");
        }
    }

    static void payment(JsonNode m) throws Refused {
        created(m);
        if (Faults.on("payment-status-pdng")) {
            present(m, "transaction_status");
            closedCode(m, "transaction_status", List.of("ACSC", "ACSP", "RJCT"));
        } else {
            code(m, "transaction_status", true, List.of("ACSC", "ACSP", "PDNG", "RJCT"));
        }
        text(m, "transaction_status_reason_code", false, 1, Faults.on("reason-code-5") ? 5 : 4);
        JsonNode information = value(m, "transaction_status_additional_information");
        if (information != null && !(information.isTextual() && Faults.on("information-text"))) {
            check(information.isArray(), "transaction_status_additional_information");
            for (JsonNode one : information) {
                check(one.isTextual() && length(one.textValue(), 1, Faults.on("information-106") ? 106 : 105),
                        "transaction_status_additional_information");
                if (Faults.on("information-first-only")) {
                    break;
                }
            }
        }
        text(m, "mps_user_id", false, 1, Faults.on("user-id-10") ? 9 : 10);
        text(m, "instruction_identification", false, 1, Faults.on("instruction-id-35") ? 34 : 35);
        String uetr = text(m, "uetr", false, 1, 1000);
        if (uetr != null) {
            check(Faults.on("uetr-version") ? isUuid(uetr) : isUuid4(uetr), "uetr");
        }
        text(m, "account_servicer_reference", false, 1, 35);
        text(m, "clearing_system_reference", false, 1, Faults.on("clearing-reference-36") ? 36 : 35);
        timestamp(m, "acceptance_date_time", false);
        JsonNode original = object(m, "original_transaction_reference", false);
        if (original != null) {
            texts(original, "original_instruction_identification", "creditor_name", "creditor_ultimate_name", "creditor_account_identification");
            mandateId(original, "mandate_identification", false);
            money(original, "instructed_amount");
        }
    }

    static void query(JsonNode m) throws Refused {
        created(m);
        text(m, "case_id", true, 1, Faults.on("case-id-21") ? 21 : 20);
        String investigation = text(m, "investigation_type_code", true, 1, 1000);
        check(investigation.equals("INV14") || Faults.on("investigation-any"), "investigation_type_code");
        String caseType = text(m, "case_type", true, 1, 1000);
        check(caseType.equals("Mandate Query Case") || caseType.equals("Mandate Query Payments") && !Faults.on("case-type-payments"), "case_type");
        if (!(Faults.on("reminder-number") && m.path("reminder_count").isIntegralNumber())) {
            String reminder = text(m, "reminder_count", false, 1, 2);
            check(reminder == null || reminder.matches("[0-9]{1,2}"), "reminder_count");
        }
        bool(m, "re_open_case_indication");
        String narrative = text(m, "narrative", true, Faults.on("narrative-empty") ? 0 : 1, 2048);
        if (Faults.on("narrative-bytes")) {
            check(narrative.getBytes(java.nio.charset.StandardCharsets.UTF_8).length <= 2048, "narrative");
        }
        JsonNode payment = object(m, "payment_details", false);
        if (payment != null) {
            texts(payment, "transaction_identification", "instruction_identification");
            date(payment, "transaction_date");
            money(payment, "original_transaction_amount");
        }
        JsonNode mandate = object(m, "mandate_details", !Faults.on("mandate-details-optional"));
        if (mandate != null) {
            mandateDetails(mandate);
        }
    }

    private static void mandateDetails(JsonNode mandate) throws Refused {
        text(mandate, "mps_user_id", false, 1, Faults.on("user-id-10") ? 9 : 10);
        mandateId(mandate, "mandate_identification", false);
        texts(mandate, "establishment_scheme", "mandate_purpose_code", "description", "additional_information");
        JsonNode debtor = object(mandate, "debtor_information", false);
        if (debtor != null) {
            texts(debtor, "party_name", "account_identification_type_code", "account_identification", "account_alias_type_code",
                    "account_alias_identification");
            alias(debtor);
        }
        JsonNode creditor = object(mandate, "creditor_information", false);
        if (creditor != null) {
            texts(creditor, "party_reference");
        }
        JsonNode payment = object(mandate, "payment_information", false);
        if (payment != null) {
            texts(payment, "payment_frequency", "count_per_period", "point_in_time", "payment_amount_type");
            clock(payment, "payment_execute_not_before_time");
            for (String name : List.of("first_payment_amount", "last_payment_amount", "amount", "maximum_amount")) {
                money(payment, name);
            }
        }
    }

    // The formats.

    private static void created(JsonNode m) throws Refused {
        String text = timestamp(m, "creation_date_time", true);
        if (Faults.on("old-refused")) {
            check(Instant.parse(text).isAfter(Instant.now().minus(5, ChronoUnit.MINUTES)), "creation_date_time");
        }
    }

    private static String timestamp(JsonNode m, String name, boolean required) throws Refused {
        String text = text(m, name, required, 1, 100);
        if (text == null) {
            return null;
        }
        Matcher t = TIME.matcher(text);
        check(t.matches(), name);
        if (t.group(7) != null) {
            check(t.group(7).length() <= (Faults.on("time-micros") ? 6 : 3), name);
        }
        String zone = t.group(8);
        check("Z".equals(zone) || zone == null && Faults.on("time-no-zone") || zone != null && Faults.on("time-offset"), name);
        if (Faults.on("time-calendar")) {
            int month = number(t, 2);
            int day = number(t, 3);
            check(month >= 1 && month <= 12 && day >= 1 && day <= 31, name);
        } else {
            checkDate(t, name);
        }
        checkTime(number(t, 4), number(t, 5), number(t, 6), name);
        if (Faults.on("time-twelve-hours")) {
            check(number(t, 4) >= 1 && number(t, 4) <= 12, name);
        }
        return text;
    }

    private static void clock(JsonNode m, String name) throws Refused {
        String text = text(m, name, false, 1, 100);
        if (text == null) {
            return;
        }
        Matcher t = CLOCK.matcher(text);
        check(t.matches() && (t.group(5) != null || Faults.on("before-time-no-zone")), name);
        checkTime(number(t, 1), number(t, 2), number(t, 3), name);
    }

    private static void date(JsonNode m, String name) throws Refused {
        String text = text(m, name, false, 1, 100);
        if (text == null) {
            return;
        }
        if (Faults.on("transaction-date-slashes")) {
            text = text.replace('/', '-');
        }
        Matcher d = DATE.matcher(text);
        check(d.matches(), name);
        checkDate(d, name);
    }

    private static void checkDate(Matcher d, String name) throws Refused {
        try {
            LocalDate.of(number(d, 1), number(d, 2), number(d, 3));
        } catch (DateTimeException e) {
            throw Refused.bad(name);
        }
    }

    private static void checkTime(int hour, int minute, int second, String name) throws Refused {
        check(hour <= 23 && minute <= 59 && second <= 59, name);
    }

    private static int number(Matcher m, int group) {
        return Integer.parseInt(m.group(group));
    }

    private static void mandateId(JsonNode m, String name, boolean required) throws Refused {
        String id = text(m, name, required, 1, 100);
        if (id == null) {
            return;
        }
        if (Faults.on("mandate-id-upper")) {
            id = id.toLowerCase(Locale.ROOT);
        }
        if (Faults.on("mandate-id-hyphens") && isUuid(id)) {
            id = id.replace("-", "");
        }
        String version = Faults.on("mandate-id-version") ? "[0-9a-f]" : "1";
        check(id.matches("[0-9a-f]{12}" + version + "[0-9a-f]{3}[89ab][0-9a-f]{15}"), name);
    }

    private static void actionId(JsonNode m, boolean required) throws Refused {
        String id = text(m, "action_identification", required, 1, 100);
        if (id == null) {
            return;
        }
        String variant = Faults.on("action-id-variant") ? "[0-9a-f]" : "[89ab]";
        check(id.matches("[0-9a-f]{12}1[0-9a-f]{3}" + variant + "[0-9a-f]{15}"), "action_identification");
    }

    private static void money(JsonNode m, String name) throws Refused {
        JsonNode money = object(m, name, false);
        if (money == null) {
            return;
        }
        String currency = text(money, "currency", true, 0, 100);
        check(currency.matches("[A-Z]{3}") || Faults.on("currency-any"), name);
        if (!(Faults.on("amount-number") && money.path("amount").isNumber())) {
            check(AMOUNT.matcher(text(money, "amount", true, 1, 100)).matches(), name);
        }
    }

    private static void alias(JsonNode debtor) throws Refused {
        String type = text(debtor, "account_alias_type_code", false, 0, 1000);
        String alias = text(debtor, "account_alias_identification", false, 0, 10000);
        if (type == null || alias == null || alias.equals("-")) {
            return; // "-" says that it was cleared
        }
        boolean good;
        switch (type) {
            case "TELI":
                String hyphen = Faults.on("teli-hyphen") ? "-?" : "-";
                String first = Faults.on("teli-zero") ? "[0-9]" : "[1-9]";
                good = alias.matches("\\+[0-9]{1,3}" + hyphen + first + "[0-9]{1," + (Faults.on("teli-long") ? 28 : 29) + "}");
                break;
            case "EMAL":
                int at = alias.indexOf('@');
                good = length(alias, 3, Faults.on("emal-257") ? 257 : 256)
                        && at > 0 && alias.lastIndexOf('@') < alias.length() - 1
                        && alias.codePoints().noneMatch(c -> Character.isWhitespace(c) || Character.isSpaceChar(c))
                        && (alias.equals(alias.toLowerCase(Locale.ROOT)) || Faults.on("emal-upper"));
                break;
            case "AUBN":
                String digits = Faults.on("aubn-10") ? "[0-9]{9,11}" : "[0-9]{9}|[0-9]{11}";
                if (Faults.on("aubn-line-end")) {
                    good = Pattern.compile("^(?:" + digits + ")$").matcher(alias).find();
                } else {
                    good = alias.matches(digits);
                }
                break;
            case "ORGN":
                good = alias.matches("[ -@\\[-~]{1,256}") && !alias.startsWith(" ") && (!alias.endsWith(" ") || Faults.on("orgn-blank"));
                break;
            default:
                good = true; // a type that came later
        }
        check(good, "account_alias_identification");
    }

    /** A code of an enumeration. New codes come with minor releases: one of the usual shape is kept. */
    private static void code(JsonNode m, String name, boolean required, List<String> known) throws Refused {
        String code = text(m, name, required, 1, 100);
        if (code != null) {
            code(name, code, known);
        }
    }

    private static void code(String name, String code, List<String> known) throws Refused {
        check(known.contains(code) || CODE.matcher(code).matches(), name);
    }

    private static void closedCode(JsonNode m, String name, List<String> known) throws Refused {
        String code = text(m, name, false, 1, 100);
        check(code == null || known.contains(code), name);
    }

    private static void present(JsonNode m, String name) throws Refused {
        check(value(m, name) != null, name);
    }

    private static JsonNode value(JsonNode m, String name) {
        JsonNode v = m.get(name);
        return v == null || v.isNull() ? null : v;
    }

    private static String text(JsonNode m, String name, boolean required, int min, int max) throws Refused {
        JsonNode v = value(m, name);
        if (v == null) {
            check(!required, name);
            return null;
        }
        check(v.isTextual() && length(v.textValue(), min, max), name);
        return v.textValue();
    }

    private static void texts(JsonNode m, String... names) throws Refused {
        for (String name : Arrays.asList(names)) {
            text(m, name, false, 0, Integer.MAX_VALUE);
        }
    }

    private static void bool(JsonNode m, String name) throws Refused {
        JsonNode v = value(m, name);
        check(v == null || v.isBoolean(), name);
    }

    private static JsonNode object(JsonNode m, String name, boolean required) throws Refused {
        JsonNode v = value(m, name);
        check(v == null ? !required : v.isObject(), name);
        return v;
    }

    private static boolean length(String s, int min, int max) {
        int n = s.codePointCount(0, s.length());
        return n >= min && n <= max;
    }

    private static void check(boolean good, String name) throws Refused {
        if (!good) {
            throw Refused.bad(name + " is missing or not as agreed");
        }
    }
}
