// The accounts and their entries of today.
package main

import (
	"fmt"
	"strings"
)

// Account is one account that is registered for statements.
type Account struct {
	ID       string
	Currency string
	Virtual  bool  // has virtual-account details
	Opening  int64 // in the smallest unit of the currency
	Entries  []Entry
}

// Entry is one booked transaction. Credits are positive, in the smallest unit of the currency.
type Entry struct {
	Amount     int64
	Fast       bool // came through the fast-payment channel
	Debtor     string
	Creditor   string
	Text       string
	VirtualID  string // the virtual account that was credited
	Branch     string // its issuer branch code
	ServicerID string
	EndToEndID string
	OtherType  string
	OtherRef   string
}

// decimals gives the number of decimal places of a currency by ISO 4217.
func decimals(currency string) int {
	if currency == "VND" {
		return 0
	}
	return 2
}

// format writes an amount of smallest units as a decimal.
func format(amount int64, currency string) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	if decimals(currency) == 0 {
		return fmt.Sprintf("%s%d", sign, amount)
	}
	return fmt.Sprintf("%s%d.%02d", sign, amount/100, amount%100)
}

func (a *Account) balance() int64 {
	sum := a.Opening
	for _, e := range a.Entries {
		sum += e.Amount
	}
	return sum
}

func ledger() map[string]*Account {
	busy := &Account{ID: "012003123456789", Currency: "AUD", Virtual: true, Opening: 125000000}
	names := []string{"Nguyễn Thị Hương", "Ada O'Brien & Sons", "Müller <Logistics> GmbH", "Trần Văn Đức", "Kookaburra Coffee"}
	texts := []string{
		"Rent November 🏠 & bond",
		"Tiền thuê nhà tháng mười một – cảm ơn nhiều lắm",
		"INV-20411 <part 2>",
		"",
		"Quà sinh nhật bé, 🎂🎉 " + strings.Repeat("chúc mừng sinh nhật ", 9),
		"Coffee beans 👩‍🌾 5kg",
	}
	fast := 0
	for i := 0; i < 61; i++ {
		e := Entry{Amount: int64(1000+137*i) * 3}
		switch {
		case i%10 == 4 || i%10 == 5:
			// Two ordinary entries that are alike and have no reference.
			e = Entry{Amount: 2500}
		case i%10 == 9:
			e.Amount = -e.Amount
			e.EndToEndID = "NOTPROVIDED"
			e.ServicerID = fmt.Sprintf("FT%08d", 700100+i)
		case i%5 == 2:
			e.Fast = true
			e.Debtor, e.Creditor = names[fast%len(names)], "Northwind Trading"
			e.Text = texts[fast%len(texts)]
			fast++
			e.VirtualID, e.Branch = fmt.Sprintf("99%07d", 4100+i), "012003"
			e.ServicerID, e.EndToEndID = fmt.Sprintf("VA%08d", 300200+i), fmt.Sprintf("E2E-%05d", i)
		case i%3 == 0:
			e.Fast = true
			e.Debtor, e.Creditor = names[fast%len(names)], "Northwind Trading"
			e.Text = texts[fast%len(texts)]
			fast++
			e.EndToEndID, e.OtherType, e.OtherRef = fmt.Sprintf("E2E-%05d", i), "NPPTransactionId", fmt.Sprintf("NWTDAU3SXXXN%012d", 880000+i)
			if i%2 == 0 {
				e.Amount = -e.Amount
				e.Debtor, e.Creditor = e.Creditor, e.Debtor
			}
		default:
			e.ServicerID = fmt.Sprintf("DE%08d", 500300+i)
		}
		busy.Entries = append(busy.Entries, e)
	}

	dong := &Account{ID: "112233445566", Currency: "VND", Opening: 310000000}
	dong.Entries = []Entry{
		{Amount: 1250000, ServicerID: "VN00000001"},
		{Amount: -84500000, EndToEndID: "PAYROLL-11"},
		{Amount: 7, Fast: true, Debtor: "Lê Minh Châu", Creditor: "Northwind Việt Nam", Text: "thử 🇻🇳", EndToEndID: "T-1"},
		{Amount: 31999999, Fast: true, Debtor: "Công ty Bình Minh", Creditor: "Northwind Việt Nam", Text: "Hóa đơn số 118", EndToEndID: "HD-118"},
	}

	full := &Account{ID: "0980027788991", Currency: "USD", Opening: 5000000}
	for i := 0; i < 20; i++ {
		amount := int64(10101 * (i + 1))
		if i%4 == 3 {
			amount = -amount / 2
		}
		full.Entries = append(full.Entries, Entry{Amount: amount, ServicerID: fmt.Sprintf("US%06d", 9000+i)})
	}

	virtual := &Account{ID: "012003555666777", Currency: "AUD", Virtual: true, Opening: 40000}
	virtual.Entries = []Entry{
		{Amount: 9999, Fast: true, Debtor: "Priya Raman", Creditor: "Northwind Trading", Text: "Order 77 🌶", VirtualID: "990000771", Branch: "012003", EndToEndID: "O-77"},
		{Amount: 1, Fast: true, Debtor: "Test", Creditor: "Northwind Trading", Text: "1c", VirtualID: "990000772", Branch: "012003"},
		{Amount: -50000, ServicerID: "SWEEP01"},
	}

	harbour := &Account{ID: "083004246813579", Currency: "AUD", Opening: 990000}
	harbour.Entries = []Entry{
		{Amount: 120000, ServicerID: "HB0001"},
		{Amount: -4550, ServicerID: "HB0002"},
		{Amount: 8800, Fast: true, Debtor: "Jo Lind", Creditor: "Harbour Ferries", Text: "Season pass ⛴", EndToEndID: "SP-9"},
	}
	rupee := &Account{ID: "083004112358132", Currency: "INR", Opening: 7500050}
	rupee.Entries = []Entry{{Amount: 100025, EndToEndID: "IN-1"}, {Amount: 100025, EndToEndID: "IN-2"}}

	all := []*Account{
		busy, dong, full, virtual, harbour, rupee,
		{ID: "012003223344556", Currency: "AUD", Opening: 1234567},
		{ID: "083004975318642", Currency: "SGD", Opening: 500},
	}
	byID := map[string]*Account{}
	for _, a := range all {
		byID[a.ID] = a
	}
	return byID
}
