// A provider of access tokens and intraday account statements.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golang-jwt/jwt"
)

const (
	tokenPath     = "/v1.0/auth"
	statementPath = "/accounts/v2.0/statement"

	scopeStatement = "GBL.INSTO.ACCOUNTS.STATEMENT.READ"
)

// Faults that were switched on by name.
var faults = map[string]bool{}

func fault(name string) bool { return faults[name] }

var clockOffset time.Duration

func now() time.Time { return time.Now().Add(clockOffset).UTC() }

// Customer as it is kept in customers.json.
type Customer struct {
	Code      string   `json:"code"`
	APIKey    string   `json:"api_key"`
	PublicKey string   `json:"public_key"` // file name in the folder
	Scopes    []string `json:"scopes"`
	Accounts  []string `json:"accounts"`

	publicPEM []byte
	key       *rsa.PublicKey
}

type LimitsFile struct {
	Token struct {
		PerHour   int64 `json:"per_hour"`
		PerSecond int64 `json:"per_second"`
	} `json:"token"`
	Statement struct {
		PerHour int64 `json:"per_hour"`
	} `json:"statement"`
	TokenSeconds int64 `json:"token_seconds"`
	PageSize     int   `json:"page_size"`
}

type Server struct {
	base      string // https://localhost:PORT
	customers []*Customer
	limits    LimitsFile
	cursorKey []byte
	accounts  map[string]*Account

	mu       sync.Mutex
	tokens   map[string]*Token
	counters map[string]*counter
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: provider setup FOLDER [PORT] | provider run FOLDER PORT [--fault NAME]... [--clock-offset SECONDS]")
	}
	switch os.Args[1] {
	case "setup":
		port := "9443"
		if len(os.Args) > 3 {
			port = os.Args[3]
		}
		if err := setup(os.Args[2], port); err != nil {
			log.Fatal(err)
		}
	case "run":
		if len(os.Args) < 4 {
			log.Fatal("usage: run FOLDER PORT [--fault NAME]... [--clock-offset SECONDS]")
		}
		rest := os.Args[4:]
		for i := 0; i < len(rest); i++ {
			if i+1 >= len(rest) {
				log.Fatalf("%s: a value is missing", rest[i])
			}
			switch rest[i] {
			case "--fault":
				faults[rest[i+1]] = true
			case "--clock-offset":
				seconds, err := strconv.ParseInt(rest[i+1], 10, 64)
				if err != nil {
					log.Fatal(err)
				}
				clockOffset = time.Duration(seconds) * time.Second
			default:
				log.Fatalf("unknown argument %s", rest[i])
			}
			i++
		}
		if err := run(os.Args[2], os.Args[3]); err != nil {
			log.Fatal(err)
		}
	default:
		log.Fatalf("unknown command %s", os.Args[1])
	}
}

func run(folder, port string) error {
	s := &Server{
		tokens:   map[string]*Token{},
		counters: map[string]*counter{},
		accounts: ledger(),
	}
	if err := readJSON(filepath.Join(folder, "customers.json"), &s.customers); err != nil {
		return err
	}
	for _, c := range s.customers {
		var err error
		if c.publicPEM, err = os.ReadFile(filepath.Join(folder, c.PublicKey)); err != nil {
			return err
		}
		block, _ := pem.Decode(c.publicPEM)
		if block == nil {
			return fmt.Errorf("%s is not PEM", c.PublicKey)
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return err
		}
		c.key = key.(*rsa.PublicKey)
	}
	jwt.DecodePaddingAllowed = fault("assertion-padded")
	s.limits = defaultLimits()
	if err := readJSON(filepath.Join(folder, "limits.json"), &s.limits); err != nil && !os.IsNotExist(err) {
		return err
	}
	var err error
	if s.cursorKey, err = os.ReadFile(filepath.Join(folder, "cursor.key")); err != nil {
		return err
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(folder, "server.pem"), filepath.Join(folder, "server-key.pem"))
	if err != nil {
		return err
	}

	mux := http.NewServeMux()
	mux.HandleFunc(tokenPath, s.handleToken)
	mux.HandleFunc(statementPath, s.handleStatement)
	httpServer := &http.Server{
		Handler:           mux,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}},
		ReadHeaderTimeout: 15 * time.Second,
		ReadTimeout:       30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	port = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	s.base = "https://localhost:" + port
	if err := writeConnections(folder, port, s.customers); err != nil {
		return err
	}

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	done := make(chan struct{})
	go func() {
		<-stop
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		httpServer.Shutdown(ctx)
		close(done)
	}()
	fmt.Println("ready " + port)
	if err := httpServer.ServeTLS(listener, "", ""); err != http.ErrServerClosed {
		return err
	}
	<-done
	return nil
}

func (s *Server) byAPIKey(key string) *Customer {
	for _, c := range s.customers {
		if key != "" && c.APIKey == key {
			return c
		}
	}
	return nil
}

func (s *Server) byCode(code string) *Customer {
	for _, c := range s.customers {
		if c.Code == code {
			return c
		}
	}
	return nil
}

// Limits of calls.

// counter counts the calls of one customer and type: an hour as a sliding window, a second as a fixed one.
// Every request is counted, refused ones too.
type counter struct {
	hour, current, previous int64
	second, inSecond        int64
}

const hourMillis = int64(3600 * 1000)

// count counts one request and says whether it is within the limits, and if not, after how many seconds one would be.
func (s *Server) count(key string, perHour, perSecond int64) (bool, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counters[key]
	if c == nil {
		c = &counter{}
		s.counters[key] = c
	}
	ms := now().UnixMilli()
	if hour := ms / hourMillis; hour > c.hour {
		if hour == c.hour+1 {
			c.previous = c.current
		} else {
			c.previous = 0
		}
		c.hour, c.current = hour, 0
	}
	if second := ms / 1000; second > c.second {
		c.second, c.inSecond = second, 0
	}
	c.current++
	c.inSecond++
	remaining := (c.hour+1)*hourMillis - ms

	if perHour > 0 {
		over := c.current*hourMillis+c.previous*remaining > perHour*hourMillis
		if strings.HasPrefix(key, "token") && fault("limit-token-off-by-one") {
			over = c.current*hourMillis+c.previous*remaining > (perHour+1)*hourMillis
		}
		if strings.HasPrefix(key, "statement") && fault("limit-statement-off-by-one") {
			over = c.current*hourMillis+c.previous*remaining >= perHour*hourMillis
		}
		if over {
			return false, retryAfter(c, perHour, remaining)
		}
	}
	if perSecond > 0 && c.inSecond > perSecond && !fault("limit-no-second") {
		return false, 1
	}
	return true, 0
}

// retryAfter finds when one more request would be within the limit of the hour, if none is made until then.
func retryAfter(c *counter, limit, remaining int64) int64 {
	wait := remaining
	if free := limit - c.current - 1; free >= 0 && c.previous > 0 {
		if w := remaining - free*hourMillis/c.previous; w < wait {
			wait = w
		}
	} else if c.current > limit-1 {
		// Not before the next window, where this one's count weighs less and less.
		wait = remaining + hourMillis - (limit-1)*hourMillis/c.current
	}
	if wait < 1000 {
		wait = 1000
	}
	return (wait + 999) / 1000
}

func (s *Server) uncount(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.counters[key]; c != nil {
		c.current--
	}
}

func tooMany(w http.ResponseWriter, seconds int64) {
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	w.Header().Set("Content-Type", "application/problem+json")
	status := http.StatusTooManyRequests
	if fault("limit-403") {
		status = http.StatusForbidden
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]interface{}{"title": "Too many requests", "status": status})
}

// Helpers.

func newUUID() string {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		panic(err)
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func readJSON(file string, into interface{}) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func writeJSON(w http.ResponseWriter, status int, body interface{}) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(body)
}

// Setup.

func defaultLimits() LimitsFile {
	var l LimitsFile
	l.Token.PerHour, l.Token.PerSecond = 10, 2
	l.Statement.PerHour = 25
	l.TokenSeconds = 3600
	l.PageSize = 20
	return l
}

func setup(folder, port string) error {
	customers := []*Customer{
		{
			Code:     "NORTHWIND01",
			Scopes:   []string{scopeStatement, "AU.INSTO.PAYTO.MANDATE.READ", "AU.INSTO.PAYTO.MANDATE.WRITE"},
			Accounts: []string{"012003123456789", "012003223344556", "112233445566", "0980027788991", "012003555666777"},
		},
		{
			Code:     "HARBOUR02",
			Scopes:   []string{scopeStatement, "AU.INSTO.PAYTO.MANDATE.READ"},
			Accounts: []string{"083004246813579", "083004975318642", "083004112358132"},
		},
	}
	for i, c := range customers {
		name := []string{"first", "second"}[i]
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			return err
		}
		random := make([]byte, 20)
		rand.Read(random)
		c.APIKey = hex.EncodeToString(random)
		c.PublicKey = name + "-public.pem"
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return err
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return err
		}
		public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			return err
		}
		if err := writePEM(filepath.Join(folder, name, "signing.pem"), "PRIVATE KEY", private); err != nil {
			return err
		}
		if err := writePEM(filepath.Join(folder, c.PublicKey), "PUBLIC KEY", public); err != nil {
			return err
		}
	}
	files := map[string]interface{}{"customers.json": customers, "limits.json": defaultLimits()}
	for name, value := range files {
		b, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), append(b, '\n'), 0o600); err != nil {
			return err
		}
	}
	cursorKey := make([]byte, 32)
	rand.Read(cursorKey)
	if err := os.WriteFile(filepath.Join(folder, "cursor.key"), cursorKey, 0o600); err != nil {
		return err
	}
	if err := writeCertificates(folder); err != nil {
		return err
	}
	return writeConnections(folder, port, customers)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func writeCertificates(folder string) error {
	begin := time.Now().Add(-24 * time.Hour)
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Provider test authority"},
		NotBefore: begin, NotAfter: begin.AddDate(5, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: begin, NotAfter: begin.AddDate(1, 0, 0),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(folder, "ca.pem"), "CERTIFICATE", caDER); err != nil {
		return err
	}
	if err := writePEM(filepath.Join(folder, "server.pem"), "CERTIFICATE", leafDER); err != nil {
		return err
	}
	return writePEM(filepath.Join(folder, "server-key.pem"), "PRIVATE KEY", keyDER)
}

// writeConnections writes what a customer needs to call us; the port is known for certain only when we listen.
func writeConnections(folder, port string, customers []*Customer) error {
	base := "https://localhost:" + port
	for i, c := range customers {
		dir := filepath.Join(folder, []string{"first", "second"}[i])
		quoted := []string{}
		for _, a := range c.Accounts {
			quoted = append(quoted, strconv.Quote(a))
		}
		toml := fmt.Sprintf("base_url = %q\ntoken_url = %q\naudience = %q\ncustomer = %q\nsigning_key = \"signing.pem\"\napi_key = %q\nroots = \"../ca.pem\"\nscopes = [%q]\naccounts = [%s]\n",
			base, base+tokenPath, base+tokenPath, c.Code, c.APIKey, scopeStatement, strings.Join(quoted, ", "))
		if err := os.WriteFile(filepath.Join(dir, "connection.toml"), []byte(toml), 0o600); err != nil {
			return err
		}
		arguments := []string{base, "--customer", c.Code, "--key", filepath.Join(dir, "signing.pem"), "--api-key", c.APIKey,
			"--audience", base + tokenPath, "--token-url", base + tokenPath, "--scope", scopeStatement, "--roots", filepath.Join(folder, "ca.pem")}
		for _, a := range c.Accounts {
			arguments = append(arguments, "--account", a)
		}
		if err := os.WriteFile(filepath.Join(dir, "arguments"), []byte(strings.Join(arguments, "\n")+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}
