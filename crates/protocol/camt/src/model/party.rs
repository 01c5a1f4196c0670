//! Parties and their addresses.

use crate::*;

record! {
    /// The parties behind a transaction.
    TransactionParties = "TransactionParties3" {
        /// The party that gave the order, if not the debtor or creditor.
        initiating_party: 0..1 Box<Party> = "InitgPty",
        /// The party that owes and pays.
        debtor: 0..1 Box<Party> = "Dbtr",
        /// The account that it is paid from.
        debtor_account: 0..1 Box<CounterpartyAccount> = "DbtrAcct",
        /// For whom the debtor pays.
        ultimate_debtor: 0..1 Box<Party> = "UltmtDbtr",
        /// The party that is owed and paid.
        creditor: 0..1 Box<Party> = "Cdtr",
        /// The account that it is paid to.
        creditor_account: 0..1 Box<CounterpartyAccount> = "CdtrAcct",
        /// For whom the creditor is paid.
        ultimate_creditor: 0..1 Box<Party> = "UltmtCdtr",
        /// The party that traded the security.
        trading_party: 0..1 Box<Party> = "TradgPty",
        /// Parties in other roles.
        proprietary: 0..* ProprietaryParty = "Prtry",
    }

    /// A party in a role that the schema does not have.
    ProprietaryParty = "ProprietaryParty3" {
        /// What the role is called.
        kind: 1..1 Text<35> = "Tp",
        /// The party in that role.
        party: 1..1 Party = "Pty",
    }

    /// A person or an organisation.
    Party = "PartyIdentification43" {
        /// The name, up to 140 characters.
        name: 0..1 Text<140> = "Nm",
        /// The postal address.
        address: 0..1 Box<PostalAddress> = "PstlAdr",
        /// The identification, of an organisation or a person.
        id: 0..1 PartyId = "Id",
        /// The country of residence, as a two-letter code.
        country_of_residence: 0..1 CountryCode = "CtryOfRes",
        /// Telephone, mail and so on.
        contact: 0..1 Box<Contact> = "CtctDtls",
    }

    /// The identifications of an organisation.
    OrganisationId = "OrganisationIdentification8" {
        /// The BIC, 8 or 11 characters.
        bic: 0..1 Bic = "AnyBIC" as "AnyBICIdentifier",
        /// Identifications of other schemes.
        other: 0..* OtherOrganisationId = "Othr",
    }

    /// An identification of an organisation that is not a BIC.
    OtherOrganisationId = "GenericOrganisationIdentification1" {
        /// The identification, up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// The scheme of the identification.
        scheme: 0..1 OrganisationScheme = "SchmeNm",
        /// Who issued it.
        issuer: 0..1 Text<35> = "Issr",
    }

    /// The identifications of a person.
    PersonId = "PersonIdentification5" {
        /// Date and place of birth.
        birth: 0..1 Birth = "DtAndPlcOfBirth",
        /// Identifications of other schemes.
        other: 0..* OtherPersonId = "Othr",
    }

    /// An identification of a person.
    OtherPersonId = "GenericPersonIdentification1" {
        /// The identification, up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// The scheme of the identification.
        scheme: 0..1 PersonScheme = "SchmeNm",
        /// Who issued it.
        issuer: 0..1 Text<35> = "Issr",
    }

    /// The date and place of a person's birth.
    Birth = "DateAndPlaceOfBirth" {
        date: 1..1 Date = "BirthDt",
        province: 0..1 Text<35> = "PrvcOfBirth",
        city: 1..1 Text<35> = "CityOfBirth",
        country: 1..1 CountryCode = "CtryOfBirth",
    }

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

    /// A postal address.
    PostalAddress = "PostalAddress6" {
        /// The kind of address.
        kind: 0..1 AddressType = "AdrTp",
        /// The department of the organisation.
        department: 0..1 Text<70> = "Dept",
        /// The part of the department.
        sub_department: 0..1 Text<70> = "SubDept",
        /// The street, without the number.
        street: 0..1 Text<70> = "StrtNm",
        /// The number in the street.
        building: 0..1 Text<16> = "BldgNb",
        /// The post code, as the country writes it.
        post_code: 0..1 Text<16> = "PstCd",
        /// Town or city.
        town: 0..1 Text<35> = "TwnNm",
        /// State, province or county.
        subdivision: 0..1 Text<35> = "CtrySubDvsn",
        /// The country, as a two-letter code.
        country: 0..1 CountryCode = "Ctry",
        /// The address in free lines of up to 70 characters, at most 7.
        lines: 0..7 Text<70> = "AdrLine",
    }

    /// A name and a postal address.
    NameAndAddress = "NameAndAddress10" {
        /// The name, up to 140 characters.
        name: 1..1 Text<140> = "Nm",
        /// The postal address.
        address: 1..1 PostalAddress = "Adr",
    }
}

choice! {
    /// The identification of an organisation or a person.
    PartyId = "Party11Choice" {
        Organisation(Box<OrganisationId>) = "OrgId",
        Person(Box<PersonId>) = "PrvtId",
    }
}

code_or_proprietary! {
    /// The scheme of an organisation's identification.
    OrganisationScheme = "OrganisationIdentificationSchemeName1Choice" {
        Text<4> as "ExternalOrganisationIdentification1Code", Text<35>
    }

    /// The scheme of a person's identification.
    PersonScheme = "PersonIdentificationSchemeName1Choice" { Text<4> as "ExternalPersonIdentification1Code", Text<35> }
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
