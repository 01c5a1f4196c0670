// The statement endpoint, its pages and the document camt.052.001.06.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

type statementRequest struct {
	account   string
	narrative bool
	cursor    string
	order     string
	max       int
}

// page is the part of an account's entries that one response holds.
type page struct {
	entries   []Entry
	more      bool
	next      int
	wholeSize int
}

type cursorData struct {
	Customer string `json:"c"`
	Account  string `json:"a"`
	Order    string `json:"o"`
	Offset   int    `json:"n"`
	First    string `json:"f"` // request key of the walk's first page
}

func (s *Server) handleStatement(w http.ResponseWriter, r *http.Request) {
	requestKey := newUUID()
	if fault("request-key-upper") {
		requestKey = strings.ToUpper(requestKey)
	}
	w.Header().Set("X-RequestKey", requestKey)
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}

	customer := s.byAPIKey(r.Header.Get("apikey"))
	token := s.findToken(r.Header.Get("Authorization"))
	if customer == nil && token != nil && r.Header.Get("apikey") == "" && fault("statement-api-key-optional") {
		customer = token.customer
	}
	if customer == nil {
		unauthorized(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}

	key := "statement " + customer.Code
	if fault("limit-per-token") && token != nil {
		key += " " + token.value
	}
	if fault("limit-per-account") {
		var peek struct {
			AccountID string `json:"accountId"`
		}
		json.Unmarshal(body, &peek)
		key += " " + peek.AccountID
	}
	if ok, seconds := s.count(key, s.limits.Statement.PerHour, 0); !ok {
		tooMany(w, seconds)
		return
	}
	status := s.serveStatement(w, r, customer, token, body, requestKey)
	if status != http.StatusOK && fault("limit-only-successes") {
		s.uncount(key)
	}
}

// serveStatement answers a call that is within the limits and returns the status it answered.
func (s *Server) serveStatement(w http.ResponseWriter, r *http.Request, customer *Customer, token *Token, body []byte, requestKey string) int {
	if token == nil || token.customer != customer && !fault("statement-api-key-other") {
		return unauthorized(w)
	}
	customer = token.customer
	if !contains(token.scopes, scopeStatement) && !fault("scope-not-enforced") {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
		w.WriteHeader(http.StatusForbidden)
		return http.StatusForbidden
	}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType != "application/json" && !fault("statement-any-content-type") {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return http.StatusUnsupportedMediaType
	}
	request, err := parseStatementRequest(body)
	if err != nil {
		return refuse(w, requestKey, http.StatusBadRequest, "EC42001", err.Error())
	}
	if request.account == "" && fault("account-missing") {
		request.account = customer.Accounts[0]
	}

	account := s.accounts[request.account]
	registered := contains(customer.Accounts, request.account) || fault("foreign-account")
	if request.account == strings.Repeat("0", 15) && fault("zeros-account") {
		account, registered = &Account{ID: request.account, Currency: "AUD"}, true
	}
	if account == nil || !registered {
		code := "EC20001"
		if fault("not-found-code") {
			code = "EC20003"
		}
		title := "Account Id: '" + request.account + "' not found"
		if fault("not-found-title") {
			title = "Account Id: " + request.account + " not found"
		}
		return refuse(w, requestKey, http.StatusNotFound, code, title)
	}

	start := cursorData{Customer: customer.Code, Account: account.ID, Order: request.order, First: requestKey}
	if request.cursor != "" {
		found, err := s.openCursor(request.cursor)
		if err != nil || found.Customer != customer.Code || found.Account != account.ID || found.Order != request.order {
			return refuse(w, requestKey, http.StatusBadRequest, "EC42001", "cursor is not valid")
		}
		start = found
		if fault("request-key-stale") {
			requestKey = start.First
			w.Header().Set("X-RequestKey", requestKey)
		}
	}
	size := s.limits.PageSize
	if request.max < size {
		size = request.max
	}
	p := cut(account, request.order, start.Offset, size)

	payload, err := document(account, p, request.narrative, requestKey)
	if err != nil {
		return refuse(w, requestKey, http.StatusInternalServerError, "EC20005", "Internal error, request key "+requestKey)
	}
	answer := map[string]interface{}{
		"accountId":                 account.ID,
		"extract":                   "intraday",
		"payload":                   payload,
		"requestKey":                requestKey,
		"moreTransactionsAvailable": p.more,
	}
	if account.Virtual {
		answer["sortOrder"] = request.order
		if fault("sort-order-value") {
			answer["sortOrder"] = "ASC"
		}
	}
	if p.more && !(start.Offset > 0 && fault("cursor-missing-later")) {
		next := start
		next.Offset = p.next
		answer["cursor"] = s.sealCursor(next)
	}
	if !p.more && fault("cursor-on-last") {
		answer["cursor"] = ""
	}
	if fault("account-echo") {
		answer["accountId"] = strings.TrimLeft(account.ID, "0")
	}
	if fault("extract-case") {
		answer["extract"] = "INTRADAY"
	}
	if fault("more-string") {
		answer["moreTransactionsAvailable"] = strconv.FormatBool(p.more)
	}
	writeJSON(w, http.StatusOK, answer)
	return http.StatusOK
}

// findToken finds a live token by the header Authorization.
func (s *Server) findToken(header string) *Token {
	value := header
	if len(header) > 7 && strings.EqualFold(header[:7], "Bearer ") {
		value = strings.TrimSpace(header[7:])
	} else if !fault("bearer-optional") {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	token := s.tokens[value]
	if token == nil {
		return nil
	}
	end := token.expires
	if fault("token-outlives") {
		end = end.Add(30e9)
	}
	if !now().Before(end) {
		return nil
	}
	return token
}

func unauthorized(w http.ResponseWriter) int {
	w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	w.WriteHeader(http.StatusUnauthorized)
	return http.StatusUnauthorized
}

func refuse(w http.ResponseWriter, requestKey string, status int, code, title string) int {
	inner := map[string]interface{}{"statusCode": code, "title": title}
	if fault("not-found-code-number") && code == "EC20001" {
		inner["statusCode"] = 20001
	}
	body := map[string]interface{}{"requestKey": requestKey, "error": inner}
	if fault("error-flat") {
		inner["requestKey"] = requestKey
		body = inner
	}
	writeJSON(w, status, body)
	return status
}

func parseStatementRequest(body []byte) (*statementRequest, error) {
	var members map[string]interface{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil || members == nil {
		return nil, errors.New("the body is not a JSON object")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("the body is not one JSON object")
	}
	r := &statementRequest{narrative: true, order: "forward", max: 1000}

	account, isText := members["accountId"].(string)
	if number, ok := members["accountId"].(json.Number); ok && fault("account-number-type") {
		account, isText = number.String(), true
		if len(account) < 15 {
			account = strings.Repeat("0", 15-len(account)) + account
		}
	}
	if _, present := members["accountId"]; !isText && (present || !fault("account-missing")) {
		return nil, errors.New("accountId is missing or not a string")
	}
	r.account = account

	switch v := members["includeNarrative"].(type) {
	case nil:
	case bool:
		r.narrative = v
	case string:
		if v != "true" && v != "false" {
			return nil, errors.New("includeNarrative is not a boolean")
		}
		r.narrative = v == "true"
	case json.Number:
		if !fault("narrative-number") {
			return nil, errors.New("includeNarrative is not a boolean")
		}
		r.narrative = v.String() != "0"
	default:
		return nil, errors.New("includeNarrative is not a boolean")
	}
	if fault("narrative-always") {
		r.narrative = true
	}

	if v, present := members["maxEntries"]; present && v != nil {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil || n < 1 || n > 1000 {
			return nil, errors.New("maxEntries is not from 1 to 1000")
		}
		r.max = n
	}
	if v, present := members["sortOrder"]; present && v != nil {
		if v != "forward" && v != "backward" {
			return nil, errors.New("sortOrder is neither forward nor backward")
		}
		r.order = v.(string)
	}
	if v, present := members["extract"]; present && v != nil && v != "intraday" {
		return nil, errors.New("extract is not intraday")
	}
	if v, present := members["cursor"]; present && v != nil {
		text, ok := v.(string)
		if !ok || text == "" {
			return nil, errors.New("cursor is not valid")
		}
		r.cursor = text
	}
	return r, nil
}

// Pages.

func cut(account *Account, order string, offset, size int) page {
	all := account.Entries
	if order == "backward" {
		all = make([]Entry, 0, len(account.Entries))
		for i := len(account.Entries) - 1; i >= 0; i-- {
			all = append(all, account.Entries[i])
		}
	}
	if offset > len(all) {
		offset = len(all)
	}
	end := offset + size
	if end > len(all) {
		end = len(all)
	}
	p := page{entries: all[offset:end], more: end < len(all), next: end, wholeSize: len(all)}
	if fault("more-off-by-one") {
		p.more = end-offset == size
	}
	if fault("more-false-early") {
		p.more = end < len(all)-1
	}
	if fault("page-overlap") && p.more && size > 1 {
		p.next = end - 1
	}
	if fault("page-gap") && p.more {
		p.next = end + 1
	}
	return p
}

func (s *Server) cursorTag(data []byte) []byte {
	mac := hmac.New(sha256.New, s.cursorKey)
	mac.Write(data)
	return mac.Sum(nil)[:16]
}

func (s *Server) sealCursor(c cursorData) string {
	data, _ := json.Marshal(c)
	return base64.StdEncoding.EncodeToString(append(s.cursorTag(data), data...))
}

func (s *Server) openCursor(text string) (cursorData, error) {
	var c cursorData
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) < 16 || !hmac.Equal(raw[:16], s.cursorTag(raw[16:])) {
		return c, errors.New("not a cursor of ours")
	}
	err = json.Unmarshal(raw[16:], &c)
	return c, err
}

// The document.

type amount struct {
	Ccy   string `xml:"Ccy,attr,omitempty"`
	Value string `xml:",chardata"`
}

type netEntry struct {
	Amt       string `xml:"Amt"`
	CdtDbtInd string `xml:"CdtDbtInd"`
}

type totals struct {
	NbOfNtries int       `xml:"NbOfNtries"`
	Sum        string    `xml:"Sum"`
	TtlNetNtry *netEntry `xml:"TtlNetNtry"`
}

type summary struct {
	TtlNtries    totals `xml:"TtlNtries"`
	TtlCdtNtries totals `xml:"TtlCdtNtries"`
	TtlDbtNtries totals `xml:"TtlDbtNtries"`
}

type name struct {
	Nm string `xml:"Nm"`
}

type other struct {
	Id   string `xml:"Id"`
	Issr string `xml:"Issr,omitempty"`
}

type accountID struct {
	Othr other `xml:"Id>Othr"`
}

type parties struct {
	Dbtr     *name      `xml:"Dbtr"`
	Cdtr     *name      `xml:"Cdtr"`
	CdtrAcct *accountID `xml:"CdtrAcct"`
}

type proprietary struct {
	Tp  string `xml:"Tp"`
	Ref string `xml:"Ref"`
}

type references struct {
	AcctSvcrRef string       `xml:"AcctSvcrRef,omitempty"`
	EndToEndId  string       `xml:"EndToEndId,omitempty"`
	Prtry       *proprietary `xml:"Prtry"`
}

type text struct {
	XML string `xml:",innerxml"`
}

type remittance struct {
	Ustrd []text `xml:"Ustrd"`
}

type details struct {
	Refs      *references `xml:"Refs"`
	Amt       amount      `xml:"Amt"`
	CdtDbtInd string      `xml:"CdtDbtInd"`
	RltdPties *parties    `xml:"RltdPties"`
	RmtInf    *remittance `xml:"RmtInf"`
}

type family struct {
	Cd        string `xml:"Cd"`
	SubFmlyCd string `xml:"SubFmlyCd,omitempty"`
}

type domain struct {
	Cd        string `xml:"Cd"`
	Fmly      family `xml:"Fmly"`
	SubFmlyCd string `xml:"SubFmlyCd,omitempty"`
}

type entryXML struct {
	Amt       amount  `xml:"Amt"`
	CdtDbtInd string  `xml:"CdtDbtInd"`
	Sts       string  `xml:"Sts"`
	BookgDt   string  `xml:"BookgDt>Dt"`
	ValDt     string  `xml:"ValDt>Dt"`
	BkTxCd    domain  `xml:"BkTxCd>Domn"`
	TxDtls    details `xml:"NtryDtls>TxDtls"`
}

type balanceXML struct {
	Cd        string `xml:"Tp>CdOrPrtry>Cd"`
	SubTp     string `xml:"Tp>SubTp>Prtry"`
	Amt       amount `xml:"Amt"`
	CdtDbtInd string `xml:"CdtDbtInd"`
	Dt        string `xml:"Dt>Dt"`
}

type source struct {
	Text  string `xml:",chardata"`
	Prtry string `xml:"Prtry,omitempty"`
}

type report struct {
	Id        string     `xml:"Id"`
	CreDtTm   string     `xml:"CreDtTm"`
	RptgSrc   source     `xml:"RptgSrc"`
	AcctId    string     `xml:"Acct>Id>Othr>Id"`
	Ccy       string     `xml:"Acct>Ccy,omitempty"`
	Bal       balanceXML `xml:"Bal"`
	TxsSummry *summary   `xml:"TxsSummry"`
	Ntry      []entryXML `xml:"Ntry"`
}

type documentXML struct {
	XMLName xml.Name `xml:"Document"`
	Xmlns   string   `xml:"xmlns,attr"`
	MsgId   string   `xml:"BkToCstmrAcctRpt>GrpHdr>MsgId"`
	CreDtTm string   `xml:"BkToCstmrAcctRpt>GrpHdr>CreDtTm"`
	Rpt     report   `xml:"BkToCstmrAcctRpt>Rpt"`
}

const (
	dateLayout = "2006-01-02"
	timeLayout = "2006-01-02T15:04:05.000-07:00"
)

func document(a *Account, p page, narrative bool, requestKey string) (string, error) {
	at := now()
	today := at.Format(dateLayout)

	d := documentXML{
		Xmlns:   "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06",
		MsgId:   strings.ToLower(strings.ReplaceAll(requestKey, "-", "")),
		CreDtTm: at.Format(timeLayout),
		Rpt: report{
			Id:      reportID(),
			CreDtTm: at.Format(timeLayout),
			RptgSrc: source{Prtry: "IDST"},
			AcctId:  a.ID,
			Ccy:     a.Currency,
			Bal: balanceXML{
				Cd: "ITAV", SubTp: "Current",
				Amt:       amount{a.Currency, format(abs(a.balance()), a.Currency)},
				CdtDbtInd: indicator(a.balance()),
				Dt:        today,
			},
			TxsSummry: summarise(a, p),
		},
	}
	for _, e := range p.entries {
		d.Rpt.Ntry = append(d.Rpt.Ntry, entryOf(a, e, narrative, today))
	}

	if fault("namespace-old") {
		d.Xmlns = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.02"
	}
	if fault("msg-id-hyphens") {
		d.MsgId = strings.ToLower(requestKey)
	}
	if fault("created-whole-seconds") {
		d.CreDtTm = at.Format("2006-01-02T15:04:05-07:00")
	}
	if fault("created-wrong-zone") {
		d.CreDtTm = at.Add(10 * 3600e9).Format(timeLayout)
	}
	if fault("created-no-offset") {
		d.Rpt.CreDtTm = at.Format("2006-01-02T15:04:05.000")
	}
	if fault("reporting-source") {
		d.Rpt.RptgSrc = source{Text: "IDST"}
	}
	if fault("account-without-branch") && len(a.ID) > 6 {
		d.Rpt.AcctId = a.ID[6:]
	}
	if fault("account-no-currency") {
		d.Rpt.Ccy = ""
	}
	if fault("balance-currency") {
		d.Rpt.Bal.Amt.Ccy = "AUD"
	}
	if fault("balance-date-time") {
		d.Rpt.Bal.Dt = at.Format("2006-01-02T15:04:05Z")
	}
	if fault("balance-type") {
		d.Rpt.Bal.Cd = "CLAV"
	}

	out, err := xml.Marshal(d)
	if err != nil {
		return "", err
	}
	return `<?xml version="1.0" encoding="UTF-8"?>` + string(out), nil
}

func reportID() string {
	b := make([]byte, 16)
	rand.Read(b)
	if fault("report-id-short") {
		id := ""
		for _, one := range b {
			id += strconv.FormatInt(int64(one), 16)
		}
		return id
	}
	return hex.EncodeToString(b)
}

func summarise(a *Account, p page) *summary {
	var credits, debits int64
	var creditCount, debitCount int
	for _, e := range p.entries {
		if e.Amount < 0 {
			debits -= e.Amount
			debitCount++
		} else {
			credits += e.Amount
			creditCount++
		}
	}
	sum := func(v int64) string {
		if fault("sum-exponent") {
			f := float64(v)
			if decimals(a.Currency) == 2 {
				f /= 100
			}
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return format(v, a.Currency)
	}

	s := &summary{
		TtlNtries: totals{len(p.entries), sum(credits + debits),
			&netEntry{format(abs(credits-debits), a.Currency), indicator(credits - debits)}},
		TtlCdtNtries: totals{creditCount, sum(credits), nil},
		TtlDbtNtries: totals{debitCount, sum(debits), nil},
	}
	if fault("sum-net") {
		s.TtlNtries.Sum = sum(credits - debits)
	}
	if fault("count-whole-statement") {
		s.TtlNtries.NbOfNtries = p.wholeSize
	}
	if fault("debits-counted-as-credits") {
		s.TtlCdtNtries.NbOfNtries = len(p.entries)
	}
	if fault("net-indicator") {
		s.TtlNtries.TtlNetNtry.CdtDbtInd = "CRDT"
	}
	if fault("net-signed") {
		s.TtlNtries.TtlNetNtry.Amt = format(credits-debits, a.Currency)
	}
	if len(p.entries) == 0 && fault("empty-no-summary") {
		return nil
	}
	return s
}

func entryOf(a *Account, e Entry, narrative bool, today string) entryXML {
	money := amount{a.Currency, format(abs(e.Amount), a.Currency)}
	x := entryXML{
		Amt:       money,
		CdtDbtInd: indicator(e.Amount),
		Sts:       "BOOK",
		BookgDt:   today,
		ValDt:     today,
		BkTxCd:    domain{Cd: "PMNT", Fmly: family{"RCDT", "DMCT"}},
		TxDtls:    details{Amt: money, CdtDbtInd: indicator(e.Amount)},
	}
	if e.Amount < 0 {
		x.BkTxCd.Fmly.Cd = "ICDT"
	}
	if e.ServicerID != "" || e.EndToEndID != "" || e.OtherRef != "" {
		x.TxDtls.Refs = &references{AcctSvcrRef: e.ServicerID, EndToEndId: e.EndToEndID}
		if e.OtherRef != "" {
			x.TxDtls.Refs.Prtry = &proprietary{e.OtherType, e.OtherRef}
		}
	}
	if narrative && e.Fast {
		if !(e.Amount > 0 && fault("narrative-no-parties")) {
			x.TxDtls.RltdPties = partiesOf(a, e)
		}
		for _, piece := range pieces(e.Text) {
			if x.TxDtls.RmtInf == nil {
				x.TxDtls.RmtInf = &remittance{}
			}
			x.TxDtls.RmtInf.Ustrd = append(x.TxDtls.RmtInf.Ustrd, text{escape(piece)})
		}
	}

	if fault("status-word") {
		x.Sts = "BOOKED"
	}
	if fault("value-date-zone") {
		x.ValDt = today + "Z"
	}
	if fault("subfamily-misplaced") {
		x.BkTxCd.SubFmlyCd, x.BkTxCd.Fmly.SubFmlyCd = x.BkTxCd.Fmly.SubFmlyCd, ""
	}
	if fault("detail-indicator") {
		x.TxDtls.CdtDbtInd = "CRDT"
	}
	if fault("detail-currency") {
		x.TxDtls.Amt.Ccy = ""
	}
	return x
}

func partiesOf(a *Account, e Entry) *parties {
	p := &parties{Dbtr: &name{e.Debtor}, Cdtr: &name{e.Creditor}}
	if e.VirtualID != "" {
		o := other{Id: e.VirtualID, Issr: e.Branch}
		if fault("va-own-account") {
			o.Id = a.ID
		}
		if fault("va-no-branch") {
			o.Issr = ""
		}
		p.CdtrAcct = &accountID{o}
	}
	return p
}

// pieces cuts a text into pieces of at most 140 characters, as Ustrd holds.
func pieces(s string) []string {
	list := []string{}
	if fault("ustrd-cut-in-bytes") {
		for ; len(s) > 140; s = s[140:] {
			list = append(list, s[:140])
		}
	}
	for utf8.RuneCountInString(s) > 140 {
		runes := []rune(s)
		list = append(list, string(runes[:140]))
		s = string(runes[140:])
	}
	if s != "" {
		list = append(list, s)
	}
	return list
}

func escape(s string) string {
	if fault("text-unescaped") {
		return strings.ReplaceAll(s, "<", "&lt;")
	}
	if fault("emoji-surrogates") {
		var b strings.Builder
		for _, r := range s {
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&b, "&#%d;&#%d;", 0xd800+(r>>10), 0xdc00+(r&0x3ff))
			} else {
				xml.EscapeText(&b, []byte(string(r)))
			}
		}
		return b.String()
	}
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

func indicator(v int64) string {
	if v < 0 {
		return "DBIT"
	}
	return "CRDT"
}
