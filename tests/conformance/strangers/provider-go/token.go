// The token endpoint: OAuth 2.0 client credentials with a signed JWT assertion.
package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt"
)

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// Token is an access token that was handed out.
type Token struct {
	value    string
	customer *Customer
	scopes   []string
	expires  time.Time
}

type oauthError struct {
	status      int
	code        string
	description string
}

func (e *oauthError) Error() string { return e.description }

func invalidRequest(description string) *oauthError {
	return &oauthError{http.StatusBadRequest, "invalid_request", description}
}

func invalidClient(description string) *oauthError {
	return &oauthError{http.StatusUnauthorized, "invalid_client", description}
}

func (s *Server) handleToken(w http.ResponseWriter, r *http.Request) {
	requestKey := newUUID()
	w.Header().Set("X-RequestKey", requestKey)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	form, formErr := parseForm(string(body))

	customer := s.byAPIKey(r.Header.Get("apikey"))
	if customer == nil && r.Header.Get("apikey") == "" && fault("token-api-key-optional") && formErr == nil {
		customer = s.byCode(unverifiedSubject(form["client_assertion"]))
	}
	if customer == nil {
		s.refuseToken(w, invalidClient("unknown API key"))
		return
	}

	if fault("limit-shared") {
		s.count("statement "+customer.Code, s.limits.Statement.PerHour, 0)
	}
	if ok, seconds := s.count("token "+customer.Code, s.limits.Token.PerHour, s.limits.Token.PerSecond); !ok {
		tooMany(w, seconds)
		return
	}

	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType != "application/x-www-form-urlencoded" && !fault("token-any-content-type") {
		s.refuseToken(w, invalidRequest("the content type is not application/x-www-form-urlencoded"))
		return
	}
	if formErr != nil {
		s.refuseToken(w, invalidRequest(formErr.Error()))
		return
	}
	token, refusal := s.grant(customer, form)
	if refusal != nil {
		s.refuseToken(w, refusal)
		return
	}

	lifetime := s.limits.TokenSeconds
	answer := map[string]interface{}{
		"access_token": token.value,
		"token_type":   "Bearer",
		"expires_in":   lifetime,
	}
	if granted := strings.Join(token.scopes, " "); granted != form["scope"] {
		answer["scope"] = granted
	}
	if fault("token-type-lower") {
		answer["token_type"] = "bearer"
	}
	if fault("expires-in-string") {
		answer["expires_in"] = strconv.FormatInt(lifetime, 10)
	}
	if fault("expires-in-milliseconds") {
		answer["expires_in"] = lifetime * 1000
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *Server) refuseToken(w http.ResponseWriter, e *oauthError) {
	if fault("request-key-lost") {
		w.Header().Del("X-RequestKey")
	}
	writeJSON(w, e.status, map[string]string{"error": e.code, "error_description": e.description})
}

// parseForm refuses repeated parameters, as RFC 6749 does; unknown ones are ignored later.
func parseForm(body string) (map[string]string, error) {
	values, err := url.ParseQuery(body)
	if err != nil {
		return nil, errors.New("the form cannot be read")
	}
	form := map[string]string{}
	for name, list := range values {
		if len(list) > 1 {
			return nil, errors.New("a parameter is repeated")
		}
		form[name] = list[0]
	}
	return form, nil
}

func (s *Server) grant(customer *Customer, form map[string]string) (*Token, *oauthError) {
	grantType := form["grant_type"]
	if !fault("grant-type-unchecked") {
		if grantType == "" {
			return nil, invalidRequest("grant_type is missing")
		}
		if grantType != "client_credentials" {
			if fault("grant-type-other-401") {
				return nil, invalidClient("grant type not allowed")
			}
			return nil, &oauthError{http.StatusBadRequest, "unsupported_grant_type", "only client_credentials is supported"}
		}
	}
	if form["client_assertion_type"] == "" {
		return nil, invalidRequest("client_assertion_type is missing")
	}
	if form["client_assertion_type"] != assertionType && !fault("assertion-type-unchecked") {
		return nil, invalidRequest("client_assertion_type is not supported")
	}
	requested := strings.Fields(form["scope"])
	if len(requested) == 0 {
		if !fault("scope-optional") {
			return nil, invalidRequest("scope is missing")
		}
		requested = customer.Scopes
	}
	if form["client_assertion"] == "" {
		if fault("missing-assertion-401") {
			return nil, invalidClient("client_assertion is missing")
		}
		return nil, invalidRequest("client_assertion is missing")
	}
	if refusal := s.checkAssertion(customer, form["client_assertion"]); refusal != nil {
		return nil, refusal
	}
	if fault("sub-other-customer") {
		customer = s.byCode(unverifiedSubject(form["client_assertion"]))
	}

	if fault("scope-first-only") {
		requested = requested[:1]
	}
	if fault("scope-grants-all") {
		requested = append(append([]string{}, requested...), customer.Scopes...)
	}
	granted := []string{}
	for _, scope := range requested {
		if contains(customer.Scopes, scope) && !contains(granted, scope) {
			granted = append(granted, scope)
		}
	}
	if len(granted) == 0 {
		return nil, &oauthError{http.StatusBadRequest, "invalid_scope", "none of the scopes is granted"}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if fault("token-cached") {
		for _, t := range s.tokens {
			if t.customer == customer && strings.Join(t.scopes, " ") == strings.Join(granted, " ") && now().Before(t.expires) {
				return t, nil
			}
		}
	}
	token := &Token{
		value:    newUUID(),
		customer: customer,
		scopes:   granted,
		expires:  now().Add(time.Duration(s.limits.TokenSeconds) * time.Second),
	}
	if fault("token-no-hyphens") {
		token.value = strings.ReplaceAll(token.value, "-", "")
	}
	s.tokens[token.value] = token
	return token, nil
}

// checkAssertion checks header, signature and claims of the client assertion.
func (s *Server) checkAssertion(customer *Customer, assertion string) *oauthError {
	parser := &jwt.Parser{UseJSONNumber: true, SkipClaimsValidation: true, ValidMethods: []string{"RS256"}}
	if fault("alg-other-rsa") {
		parser.ValidMethods = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	}
	if fault("alg-hs256") {
		parser.ValidMethods = []string{"RS256", "HS256"}
	}

	keys := []*Customer{customer}
	if fault("signature-any-customer") {
		keys = s.customers
	}
	if fault("sub-other-customer") {
		if other := s.byCode(unverifiedSubject(assertion)); other != nil {
			customer = other
			keys = []*Customer{other}
		}
	}

	var token *jwt.Token
	var err error
	for _, c := range keys {
		token, err = parser.Parse(assertion, func(t *jwt.Token) (interface{}, error) {
			if _, hmac := t.Method.(*jwt.SigningMethodHMAC); hmac {
				return c.publicPEM, nil
			}
			return c.key, nil
		})
		if err == nil {
			break
		}
	}
	if err != nil && fault("signature-short") && token != nil && token.Method != nil && token.Method.Alg() == "RS256" {
		if signature, e := base64.RawURLEncoding.DecodeString(token.Signature); e == nil && len(signature) < customer.key.Size() {
			err = nil
		}
	}
	if err != nil {
		var v *jwt.ValidationError
		if errors.As(err, &v) && v.Errors&jwt.ValidationErrorSignatureInvalid != 0 && fault("bad-signature-400") {
			return &oauthError{http.StatusBadRequest, "invalid_grant", "the signature is wrong"}
		}
		return invalidClient("the assertion cannot be verified")
	}

	if !fault("typ-unchecked") {
		typ, _ := token.Header["typ"].(string)
		// Media types are compared without regard to case, and many write JWT.
		ok := strings.EqualFold(typ, "jwt")
		if fault("typ-upper-only") {
			ok = typ == "JWT"
		}
		if !ok {
			return invalidClient("typ is not jwt")
		}
	}
	if _, critical := token.Header["crit"]; critical {
		return invalidClient("critical header parameters are not understood")
	}

	claims, ok := token.Claims.(jwt.MapClaims)
	if !ok {
		return invalidClient("the claims cannot be read")
	}
	return s.checkClaims(customer, claims)
}

func (s *Server) checkClaims(customer *Customer, claims jwt.MapClaims) *oauthError {
	seconds := float64(now().UnixMilli()) / 1000
	whole := float64(now().Unix())

	sub, hasSub := claims["sub"].(string)
	if _, present := claims["sub"]; !present && fault("sub-missing") {
		sub, hasSub = customer.Code, true
	}
	same := sub == customer.Code
	if fault("sub-any-case") {
		same = strings.EqualFold(sub, customer.Code)
	}
	if !hasSub || !same {
		return invalidClient("sub is not the customer of the API key")
	}
	if iss, present := claims["iss"]; present && iss != sub {
		return invalidClient("iss is not sub")
	}

	if _, present := claims["exp"]; present || !fault("exp-missing") {
		exp, ok := numericDate(claims["exp"])
		if !ok {
			return invalidClient("exp is missing or not a number")
		}
		if exp > 1e11 && fault("exp-milliseconds") {
			exp = exp / 1000
		}
		grace := 0.0
		if fault("exp-grace") {
			grace = 60
		}
		if seconds >= exp+grace {
			if fault("expired-400") {
				return invalidRequest("the assertion has expired")
			}
			return invalidClient("the assertion has expired")
		}
		limit := 3600.0
		if fault("exp-61-minutes") {
			limit = 3660
		}
		tooFar := exp-whole > limit
		if fault("exp-exact-refused") {
			tooFar = exp-whole >= limit
		}
		if tooFar {
			return invalidClient("exp is more than 60 minutes ahead")
		}
	}
	for _, name := range []string{"iat", "nbf"} {
		if value, present := claims[name]; present {
			if t, ok := numericDate(value); !ok || t > seconds+30 {
				return invalidClient(name + " is not a number or is in the future")
			}
		}
	}

	if _, present := claims["aud"]; present || !fault("aud-missing") {
		if !s.audienceMatches(claims["aud"]) {
			return invalidClient("aud is not the address of the token endpoint")
		}
	}
	return nil
}

func (s *Server) audienceMatches(aud interface{}) bool {
	switch a := aud.(type) {
	case string:
		if fault("aud-prefix") {
			return strings.HasPrefix(a, s.base)
		}
		return a == s.base+tokenPath
	case []interface{}:
		for _, one := range a {
			if text, ok := one.(string); ok && s.audienceMatches(text) {
				return true
			}
		}
	}
	return false
}

func numericDate(v interface{}) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func unverifiedSubject(assertion string) string {
	claims := jwt.MapClaims{}
	if _, _, err := new(jwt.Parser).ParseUnverified(assertion, claims); err != nil {
		return ""
	}
	sub, _ := claims["sub"].(string)
	return sub
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}
