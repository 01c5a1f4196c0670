//! Parties and their addresses.

use crate::model::account::CounterpartyAccount;
use crate::schema::{choice, codes, record};
use crate::value::date::Date;
use crate::value::identifier::{Bic, CountryCode, PhoneNumber};
use crate::value::text::Text;

record! {
    /// The parties behind a transaction.
    TransactionParties = "TransactionParties3" {
        initiating_party: 0..1 Box<Party> = "InitgPty",
        debtor: 0..1 Box<Party> = "Dbtr",
        debtor_account: 0..1 Box<CounterpartyAccount> = "DbtrAcct",
        ultimate_debtor: 0..1 Box<Party> = "UltmtDbtr",
        creditor: 0..1 Box<Party> = "Cdtr",
        creditor_account: 0..1 Box<CounterpartyAccount> = "CdtrAcct",
        ultimate_creditor: 0..1 Box<Party> = "UltmtCdtr",
        trading_party: 0..1 Box<Party> = "TradgPty",
        proprietary: 0..* ProprietaryParty = "Prtry",
    }
}

record! {
    /// A party in a role that the schema does not have.
    ProprietaryParty = "ProprietaryParty3" {
        kind: 1..1 Text<35> = "Tp",
        party: 1..1 Party = "Pty",
    }
}

record! {
    /// A person or an organisation.
    Party = "PartyIdentification43" {
        name: 0..1 Text<140> = "Nm",
        address: 0..1 Box<PostalAddress> = "PstlAdr",
        id: 0..1 PartyId = "Id",
        country_of_residence: 0..1 CountryCode = "CtryOfRes",
        contact: 0..1 Box<Contact> = "CtctDtls",
    }
}

choice! {
    /// The identification of an organisation or a person.
    PartyId = "Party11Choice" {
        Organisation(Box<OrganisationId>) = "OrgId",
        Person(Box<PersonId>) = "PrvtId",
    }
}

record! {
    /// The identifications of an organisation.
    OrganisationId = "OrganisationIdentification8" {
        bic: 0..1 Bic = "AnyBIC",
        other: 0..* OtherOrganisationId = "Othr",
    }
}

choice! {
    /// The scheme of an organisation's identification.
    OrganisationScheme = "OrganisationIdentificationSchemeName1Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// An identification of an organisation that is no BIC.
    OtherOrganisationId = "GenericOrganisationIdentification1" {
        id: 1..1 Text<35> = "Id",
        scheme: 0..1 OrganisationScheme = "SchmeNm",
        issuer: 0..1 Text<35> = "Issr",
    }
}

record! {
    /// The identifications of a person.
    PersonId = "PersonIdentification5" {
        birth: 0..1 Birth = "DtAndPlcOfBirth",
        other: 0..* OtherPersonId = "Othr",
    }
}

choice! {
    /// The scheme of a person's identification.
    PersonScheme = "PersonIdentificationSchemeName1Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// An identification of a person.
    OtherPersonId = "GenericPersonIdentification1" {
        id: 1..1 Text<35> = "Id",
        scheme: 0..1 PersonScheme = "SchmeNm",
        issuer: 0..1 Text<35> = "Issr",
    }
}

record! {
    /// The date and place of a person's birth.
    Birth = "DateAndPlaceOfBirth" {
        date: 1..1 Date = "BirthDt",
        province: 0..1 Text<35> = "PrvcOfBirth",
        city: 1..1 Text<35> = "CityOfBirth",
        country: 1..1 CountryCode = "CtryOfBirth",
    }
}

record! {
    /// How to reach a party.
    Contact = "ContactDetails2" {
        name_prefix: 0..1 NamePrefix = "NmPrfx",
        name: 0..1 Text<140> = "Nm",
        phone: 0..1 PhoneNumber = "PhneNb",
        mobile: 0..1 PhoneNumber = "MobNb",
        fax: 0..1 PhoneNumber = "FaxNb",
        email: 0..1 Text<2048> = "EmailAdr",
        other: 0..1 Text<35> = "Othr",
    }
}

record! {
    /// A postal address.
    PostalAddress = "PostalAddress6" {
        kind: 0..1 AddressType = "AdrTp",
        department: 0..1 Text<70> = "Dept",
        sub_department: 0..1 Text<70> = "SubDept",
        street: 0..1 Text<70> = "StrtNm",
        building: 0..1 Text<16> = "BldgNb",
        post_code: 0..1 Text<16> = "PstCd",
        town: 0..1 Text<35> = "TwnNm",
        subdivision: 0..1 Text<35> = "CtrySubDvsn",
        country: 0..1 CountryCode = "Ctry",
        lines: 0..7 Text<70> = "AdrLine",
    }
}

record! {
    /// A name and a postal address.
    NameAndAddress = "NameAndAddress10" {
        name: 1..1 Text<140> = "Nm",
        address: 1..1 PostalAddress = "Adr",
    }
}

codes! {
    /// What an address is for.
    AddressType = "AddressType2Code" {
        Postal = "ADDR", PoBox = "PBOX", Residential = "HOME", Business = "BIZZ", MailTo = "MLTO", DeliverTo = "DLVY",
    }

    /// A form of address.
    NamePrefix = "NamePrefix1Code" {
        Doctor = "DOCT", Mister = "MIST", Miss = "MISS", Madam = "MADM",
    }
}
