"""Writes camt.052.001.06 reports, and keeps the place of a walk in a cursor."""

import base64
import hashlib
import hmac
import json
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lxml import etree

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"
PIECE = 140  # the most characters of one Ustrd


class Cursors:
    """Opaque, signed continuation values: standard Base64 of a tag and what it covers."""

    def __init__(self, key):
        self._key = key

    def _tag(self, data):
        return hmac.new(self._key, data, hashlib.sha256).digest()[:16]

    def make(self, **place):
        data = json.dumps(place, sort_keys=True, separators=(",", ":")).encode()
        return base64.b64encode(self._tag(data) + data).decode()

    def read(self, text):
        """The place of a cursor, or None if it is not ours."""
        try:
            raw = base64.b64decode(text, validate=True)
        except ValueError:
            return None
        tag, data = raw[:16], raw[16:]
        if not hmac.compare_digest(tag, self._tag(data)):
            return None
        return json.loads(data)


def pieces(text):
    return [text[i:i + PIECE] for i in range(0, len(text), PIECE)]


def is_fast(entry):
    return entry.get("fast", False)


class Report:
    def __init__(self, account, day, now, started, request_key, narrative, faults):
        self.account = account
        self.day = day
        self.now = now
        self.started = started
        self.request_key = request_key
        self.narrative = narrative
        self.faults = faults
        self.currency = account["currency"]
        self.digits = 0 if self.currency == "VND" else 2
        self.namespace = NAMESPACE
        if "namespace-older" in faults:
            self.namespace = NAMESPACE.replace(".001.06", ".001.02")

    # helpers

    def add(self, parent, path, text=None, **attributes):
        for name in path.split("/"):
            parent = etree.SubElement(parent, f"{{{self.namespace}}}{name}", nsmap=None)
        if text is not None:
            parent.text = text
        for name, value in attributes.items():
            parent.set(name, value)
        return parent

    def decimal(self, value):
        return f"{Decimal(value):.{self.digits}f}"

    def text(self, value):
        if "text-emoji-lost" in self.faults:
            value = "".join(c if ord(c) < 0x10000 else "\ufffd" for c in value)
        if "text-mojibake" in self.faults:
            value = value.encode("utf-8").decode("latin-1")
        return value

    def timestamp(self, moment):
        if "creation-local-as-utc" in self.faults:
            moment = moment + timedelta(hours=10)
        written = moment.isoformat(timespec="microseconds")
        if "creation-no-fraction" in self.faults:
            written = moment.isoformat(timespec="seconds")
        if "creation-no-offset" in self.faults:
            written = written.removesuffix("+00:00")
        return written

    # the document

    def write(self, entries, all_entries):
        """The report with these entries, which are a page of all_entries."""
        document = etree.Element(f"{{{self.namespace}}}Document", nsmap={None: self.namespace})
        root = self.add(document, "BkToCstmrAcctRpt")

        header = self.add(root, "GrpHdr")
        message_id = self.request_key.replace("-", "")
        if "message-id-hyphens" in self.faults:
            message_id = self.request_key
        self.add(header, "MsgId", message_id)
        self.add(header, "CreDtTm", self.timestamp(self.now))

        report = self.add(root, "Rpt")
        report_id = uuid.uuid4().hex
        if "report-id-counter" in self.faults:
            report_id = f"{self.day:%Y%m%d}{int(self.now.timestamp() * 1000) % 1000000:06d}"
        self.add(report, "Id", report_id)
        made = self.started if "report-time-of-start" in self.faults else self.now
        self.add(report, "CreDtTm", self.timestamp(made))
        self.add(report, "RptgSrc/Prtry", "INTRADAY")
        account = self.add(report, "Acct")
        self.add(account, "Id/Othr/Id", self.account["id"])
        self.add(account, "Ccy", self.currency)
        self.balance(report)
        self.summary(report, all_entries if "summary-whole-account" in self.faults else entries)
        for entry in entries:
            self.entry(report, entry)
        return etree.tostring(document, encoding="unicode", xml_declaration=False)

    def balance(self, report):
        balance = self.add(report, "Bal")
        kind = self.add(balance, "Tp")
        self.add(kind, "CdOrPrtry/Cd", "ITBD" if "balance-type-other" in self.faults else "ITAV")
        self.add(kind, "SubTp/Prtry", "Current")
        amount = self.decimal(self.account["balance"])
        if "amount-grouped" in self.faults:
            amount = f"{Decimal(amount):,}"
        self.add(balance, "Amt", amount, Ccy=self.currency)
        self.add(balance, "CdtDbtInd", "CRDT")
        date = self.day.isoformat()
        if "balance-date-zone" in self.faults:
            date += "Z"
        self.add(balance, "Dt/Dt", date)

    def side_for_sums(self, entry):
        if "summary-reversal-other-side" in self.faults and entry.get("reversal"):
            return "DBIT" if entry["side"] == "CRDT" else "CRDT"
        return entry["side"]

    def sum(self, entries):
        if "summary-float" in self.faults:
            return sum((float(e["amount"]) for e in entries), 0.0)
        return sum((Decimal(e["amount"]) for e in entries), Decimal(0))

    def written_sum(self, value):
        if "summary-float" in self.faults:
            return str(value)
        if "amount-exponent" in self.faults:
            return str(Decimal(value).normalize())
        return self.decimal(value)

    def summary(self, report, entries):
        credits = [e for e in entries if self.side_for_sums(e) == "CRDT"]
        debits = [e for e in entries if self.side_for_sums(e) == "DBIT"]
        sum_credits, sum_debits = self.sum(credits), self.sum(debits)
        net = sum_credits - sum_debits
        no_sums = "summary-empty-without-sums" in self.faults and not entries

        summary = self.add(report, "TxsSummry")
        total = self.add(summary, "TtlNtries")
        self.add(total, "NbOfNtries", str(len(entries)))
        if not no_sums:
            self.add(total, "Sum", self.written_sum(self.sum(entries)))
        net_entry = self.add(total, "TtlNetNtry")
        self.add(net_entry, "Amt", self.written_sum(abs(net)))
        indicator = "CRDT" if net >= 0 or "summary-net-credit" in self.faults else "DBIT"
        self.add(net_entry, "CdtDbtInd", indicator)
        for name, group, value in (("TtlCdtNtries", credits, sum_credits), ("TtlDbtNtries", debits, sum_debits)):
            part = self.add(summary, name)
            self.add(part, "NbOfNtries", str(len(group)))
            if not no_sums:
                self.add(part, "Sum", self.written_sum(value))

    def entry(self, report, entry):
        currency = "AUD" if "currency-default-aud" in self.faults else self.currency
        node = self.add(report, "Ntry")
        self.add(node, "Amt", self.decimal(entry["amount"]), Ccy=currency)
        self.add(node, "CdtDbtInd", entry["side"])
        if entry.get("reversal"):
            self.add(node, "RvslInd", "true")
        self.add(node, "Sts", "BOOK")
        self.add(node, "BookgDt/Dt", self.day.isoformat())
        value_date = self.day.isoformat()
        if "value-date-reversed" in self.faults:
            value_date = self.day.strftime("%d-%m-%Y")
        self.add(node, "ValDt/Dt", value_date)
        domain, family, sub_family = entry["codes"]
        if "transaction-codes-swapped" in self.faults:
            family, sub_family = sub_family, family
        codes = self.add(node, "BkTxCd/Domn")
        self.add(codes, "Cd", domain)
        families = self.add(codes, "Fmly")
        self.add(families, "Cd", family)
        self.add(families, "SubFmlyCd", sub_family)
        self.details(self.add(node, "NtryDtls/TxDtls"), entry, currency)

    def details(self, node, entry, currency):
        if "servicer_reference" in entry:
            references = self.add(node, "Refs")
            self.add(references, "AcctSvcrRef", entry["servicer_reference"])
            self.add(references, "EndToEndId", entry["end_to_end"])
            if "proprietary" in entry:
                proprietary = self.add(references, "Prtry")
                self.add(proprietary, "Tp", entry["proprietary"][0])
                self.add(proprietary, "Ref", entry["proprietary"][1])
        amount = self.decimal(entry["amount"])
        if "transaction-amount-rounded" in self.faults:
            amount = f"{Decimal(amount):.0f}"
        self.add(node, "Amt", amount, Ccy=currency)
        side = entry["side"]
        if "debit-indicator-dbt" in self.faults and side == "DBIT":
            side = "DBT"
        self.add(node, "CdtDbtInd", side)
        if self.narrative and is_fast(entry):
            self.related_parties(node, entry)
            if entry["text"] and "narrative-no-remittance" not in self.faults:
                remittance = self.add(node, "RmtInf")
                for piece in pieces(entry["text"]):
                    self.add(remittance, "Ustrd", self.text(piece))

    def related_parties(self, node, entry):
        parties = self.add(node, "RltdPties")
        self.add(parties, "Dbtr/Nm", self.text(entry["debtor"]))
        self.add(parties, "Cdtr/Nm", self.text(entry["creditor"]))
        if "virtual_account" in entry:
            other = self.add(parties, "CdtrAcct/Id/Othr")
            number = entry["virtual_account"]["number"]
            if "virtual-own-number" in self.faults:
                number = self.account["id"]
            self.add(other, "Id", number)
            if "virtual-no-issuer" not in self.faults:
                self.add(other, "Issr", entry["virtual_account"]["branch"])


def utc(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc)
