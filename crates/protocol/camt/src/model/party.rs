//! Parties and their addresses.

use crate::*;

/// The parties behind a transaction.
///
/// `TransactionParties3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TransactionParties3")]
#[non_exhaustive]
pub struct TransactionParties {
    /// The party that gave the order, if not the debtor or creditor. `InitgPty`.
    #[element("InitgPty")]
    pub initiating_party: Option<Box<PartyOrAgent>>,
    /// The party that owes and pays. `Dbtr`.
    #[element("Dbtr")]
    pub debtor: Option<Box<PartyOrAgent>>,
    /// The account that the payment comes from. `DbtrAcct`.
    #[element("DbtrAcct")]
    pub debtor_account: Option<Box<CounterpartyAccount>>,
    /// The party on whose behalf the debtor pays. `UltmtDbtr`.
    #[element("UltmtDbtr")]
    pub ultimate_debtor: Option<Box<PartyOrAgent>>,
    /// The party that is owed and paid. `Cdtr`.
    #[element("Cdtr")]
    pub creditor: Option<Box<PartyOrAgent>>,
    /// The account that the payment goes to. `CdtrAcct`.
    #[element("CdtrAcct")]
    pub creditor_account: Option<Box<CounterpartyAccount>>,
    /// The party for whom the creditor receives the payment. `UltmtCdtr`.
    #[element("UltmtCdtr")]
    pub ultimate_creditor: Option<Box<PartyOrAgent>>,
    /// The party that traded the security. `TradgPty`.
    #[element("TradgPty")]
    pub trading_party: Option<Box<PartyOrAgent>>,
    /// Parties in other roles. `Prtry`.
    #[element("Prtry")]
    pub proprietary: Vec<ProprietaryParty>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A party in a role that the schema does not have.
///
/// `ProprietaryParty3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProprietaryParty3")]
#[non_exhaustive]
pub struct ProprietaryParty {
    /// The name of the role. `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// The party in that role. `Pty`.
    #[element("Pty")]
    pub party: PartyOrAgent,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A person or an organisation.
///
/// `PartyIdentification43` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PartyIdentification43")]
#[non_exhaustive]
pub struct Party {
    /// The name, up to 140 characters. `Nm`.
    #[element("Nm")]
    pub name: Option<Text<140>>,
    /// The postal address. `PstlAdr`.
    #[element("PstlAdr")]
    pub address: Option<Box<PostalAddress>>,
    /// The identification, of an organisation or a person. `Id`.
    #[element("Id")]
    pub id: Option<PartyId>,
    /// The country of residence, as a two-letter code. `CtryOfRes`.
    #[element("CtryOfRes")]
    pub country_of_residence: Option<CountryCode>,
    /// The details of contact, such as telephone and e-mail. `CtctDtls`.
    #[element("CtctDtls")]
    pub contact: Option<Box<Contact>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The identifications of an organisation.
///
/// `OrganisationIdentification8` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "OrganisationIdentification8")]
#[non_exhaustive]
pub struct OrganisationId {
    /// The BIC, 8 or 11 characters. `AnyBIC`.
    #[element("BICOrBEI", until = 2)]
    #[element("AnyBIC", since = 3)]
    pub bic: Option<Bic>,
    /// The legal entity identifier. `LEI`, since version 08.
    #[element("LEI", since = 8)]
    pub lei: Option<Lei>,
    /// Identifications of other schemes. `Othr`.
    #[element("Othr")]
    pub other: Vec<OtherOrganisationId>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An identification of an organisation that is not a BIC.
///
/// `GenericOrganisationIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericOrganisationIdentification1")]
#[non_exhaustive]
pub struct OtherOrganisationId {
    /// The identification, up to 35 characters. `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The scheme of the identification. `SchmeNm`.
    #[element("SchmeNm")]
    pub scheme: Option<OrganisationScheme>,
    /// The issuer of the identification. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The identifications of a person.
///
/// `PersonIdentification5` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PersonIdentification5")]
#[non_exhaustive]
pub struct PersonId {
    /// The date and place of birth. `DtAndPlcOfBirth`.
    #[element("DtAndPlcOfBirth")]
    pub birth: Option<Birth>,
    /// Identifications of other schemes. `Othr`.
    #[element("Othr")]
    pub other: Vec<OtherPersonId>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An identification of a person.
///
/// `GenericPersonIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericPersonIdentification1")]
#[non_exhaustive]
pub struct OtherPersonId {
    /// The identification, up to 35 characters. `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The scheme of the identification. `SchmeNm`.
    #[element("SchmeNm")]
    pub scheme: Option<PersonScheme>,
    /// The issuer of the identification. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The date and place of a person's birth.
///
/// `DateAndPlaceOfBirth` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DateAndPlaceOfBirth")]
#[non_exhaustive]
pub struct Birth {
    /// The element `BirthDt`.
    #[element("BirthDt")]
    pub date: IsoDate,
    /// The element `PrvcOfBirth`.
    #[element("PrvcOfBirth")]
    pub province: Option<Text<35>>,
    /// The element `CityOfBirth`.
    #[element("CityOfBirth")]
    pub city: Text<35>,
    /// The element `CtryOfBirth`.
    #[element("CtryOfBirth")]
    pub country: CountryCode,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The means of reaching a party.
///
/// `ContactDetails2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ContactDetails2")]
#[non_exhaustive]
pub struct Contact {
    /// The element `NmPrfx`.
    #[element("NmPrfx")]
    pub name_prefix: Option<NamePrefix>,
    /// The element `Nm`.
    #[element("Nm")]
    pub name: Option<Text<140>>,
    /// The element `PhneNb`.
    #[element("PhneNb")]
    pub phone: Option<PhoneNumber>,
    /// The element `MobNb`.
    #[element("MobNb")]
    pub mobile: Option<PhoneNumber>,
    /// The element `FaxNb`.
    #[element("FaxNb")]
    pub fax: Option<PhoneNumber>,
    /// The element `EmailAdr`.
    #[element("EmailAdr")]
    pub email: Option<Text<2048>>,
    /// The purpose of the e-mail address. `EmailPurp`, since version 08.
    #[element("EmailPurp", since = 8)]
    pub email_purpose: Option<Text<35>>,
    /// The title of the job. `JobTitl`, since version 08.
    #[element("JobTitl", since = 8)]
    pub job_title: Option<Text<35>>,
    /// The responsibility in the organisation. `Rspnsblty`, since version 08.
    #[element("Rspnsblty", since = 8)]
    pub responsibility: Option<Text<35>>,
    /// The department. `Dept`, since version 08.
    #[element("Dept", since = 8)]
    pub department: Option<Text<70>>,
    /// The element `Othr`.
    #[element("Othr", until = 7)]
    pub other: Option<Text<35>>,
    /// Other ways of contact. `Othr`, since version 08.
    #[element("Othr", since = 8)]
    pub others: Vec<OtherContact>,
    /// The preferred way of contact. `PrefrdMtd`, since version 08.
    #[element("PrefrdMtd", since = 8)]
    pub preferred_method: Option<ContactMethod>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A postal address.
///
/// `PostalAddress6` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PostalAddress6")]
#[non_exhaustive]
pub struct PostalAddress {
    /// The kind of address. `AdrTp`.
    #[element("AdrTp")]
    pub kind: Option<AddressType>,
    /// The department of the organisation. `Dept`.
    #[element("Dept")]
    pub department: Option<Text<70>>,
    /// The part of the department. `SubDept`.
    #[element("SubDept")]
    pub sub_department: Option<Text<70>>,
    /// The street, without the number. `StrtNm`.
    #[element("StrtNm")]
    pub street: Option<Text<70>>,
    /// The number in the street. `BldgNb`.
    #[element("BldgNb")]
    pub building: Option<Text<16>>,
    /// The name of the building. `BldgNm`, since version 08.
    #[element("BldgNm", since = 8)]
    pub building_name: Option<Text<35>>,
    /// The floor. `Flr`, since version 08.
    #[element("Flr", since = 8)]
    pub floor: Option<Text<70>>,
    /// The post box. `PstBx`, since version 08.
    #[element("PstBx", since = 8)]
    pub post_box: Option<Text<16>>,
    /// The room. `Room`, since version 08.
    #[element("Room", since = 8)]
    pub room: Option<Text<70>>,
    /// The post code, as the country writes it. `PstCd`.
    #[element("PstCd")]
    pub post_code: Option<Text<16>>,
    /// The town or city. `TwnNm`.
    #[element("TwnNm")]
    pub town: Option<Text<35>>,
    /// The location in the town. `TwnLctnNm`, since version 08.
    #[element("TwnLctnNm", since = 8)]
    pub town_location: Option<Text<35>>,
    /// The district. `DstrctNm`, since version 08.
    #[element("DstrctNm", since = 8)]
    pub district: Option<Text<35>>,
    /// The state, province or county. `CtrySubDvsn`.
    #[element("CtrySubDvsn")]
    pub subdivision: Option<Text<35>>,
    /// The country, as a two-letter code. `Ctry`.
    #[element("Ctry")]
    pub country: Option<CountryCode>,
    /// The address in free lines of up to 70 characters, at most 7. `AdrLine`, at most 7.
    #[element("AdrLine", max = 7)]
    pub lines: Vec<Text<70>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A name and a postal address.
///
/// `NameAndAddress10` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "NameAndAddress10")]
#[non_exhaustive]
pub struct NameAndAddress {
    /// The name, up to 140 characters. `Nm`.
    #[element("Nm")]
    pub name: Text<140>,
    /// The postal address. `Adr`.
    #[element("Adr")]
    pub address: PostalAddress,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The identification of an organisation or a person.
///
/// `Party11Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "Party11Choice")]
#[non_exhaustive]
pub enum PartyId {
    /// The element `OrgId`.
    #[element("OrgId")]
    Organisation(Box<OrganisationId>),
    /// The element `PrvtId`.
    #[element("PrvtId")]
    Person(Box<PersonId>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The scheme of an organisation's identification.
///
/// `OrganisationIdentificationSchemeName1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(
    type = "OrganisationIdentificationSchemeName1Choice",
    code_or_proprietary
)]
#[non_exhaustive]
pub enum OrganisationScheme {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The scheme of a person's identification.
///
/// `PersonIdentificationSchemeName1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "PersonIdentificationSchemeName1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum PersonScheme {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The purpose of an address.
///
/// `AddressType2Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "AddressType2Code")]
#[non_exhaustive]
pub enum AddressCode {
    /// The code `ADDR`.
    #[code("ADDR")]
    Postal,
    /// The code `PBOX`.
    #[code("PBOX")]
    PoBox,
    /// The code `HOME`.
    #[code("HOME")]
    Residential,
    /// The code `BIZZ`.
    #[code("BIZZ")]
    Business,
    /// The code `MLTO`.
    #[code("MLTO")]
    MailTo,
    /// The code `DLVY`.
    #[code("DLVY")]
    DeliverTo,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// A form of address.
///
/// `NamePrefix1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "NamePrefix1Code")]
#[non_exhaustive]
pub enum NamePrefix {
    /// The code `DOCT`.
    #[code("DOCT")]
    Doctor,
    /// The code `MIST`.
    #[code("MIST")]
    Mister,
    /// The code `MISS`.
    #[code("MISS")]
    Miss,
    /// The code `MADM`.
    #[code("MADM")]
    Madam,
    /// The code `MIKS`: gender-neutral, since version 08.
    #[code("MIKS", since = 8)]
    Neutral,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The type of an address: a code until version 07.
///
/// `AddressType3Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "AddressType3Choice", bare_until = 7)]
#[non_exhaustive]
pub enum AddressType {
    /// A code. `Cd`, and until version 07 the element itself.
    #[element("Cd")]
    Code(AddressCode),
    /// A code of a proprietary list. `Prtry`, since version 08.
    #[element("Prtry")]
    Proprietary(Box<GenericCode>),
    /// An unknown alternative; the extras of the parent hold its content.
    #[element(unknown)]
    Unknown,
}

/// A party to a transaction: a party until version 06, later a party or an agent.
///
/// `Party40Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "Party40Choice", bare_until = 6)]
#[non_exhaustive]
pub enum PartyOrAgent {
    /// A party. `Pty`, and until version 06 the element itself.
    #[element("Pty")]
    Party(Party),
    /// An agent. `Agt`, since version 07.
    #[element("Agt")]
    // Boxed, because an agent is three times as large as a party.
    Agent(Box<Agent>),
    /// An unknown alternative; the extras of the parent hold its content.
    #[element(unknown)]
    Unknown,
}

impl PartyOrAgent {
    /// Returns the party; `None` for an agent.
    #[must_use]
    pub fn party(&self) -> Option<&Party> {
        match self {
            Self::Party(party) => Some(party),
            _ => None,
        }
    }

    /// Returns the name of the party or of the agent's institution.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        let name = match self {
            Self::Party(party) => &party.name,
            Self::Agent(agent) => &agent.institution.name,
            Self::Unknown => return None,
        };
        name.as_ref().map(Text::as_str)
    }
}

impl From<Party> for PartyOrAgent {
    fn from(party: Party) -> Self {
        Self::Party(party)
    }
}

/// Another way of contact.
///
/// `OtherContact1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "OtherContact1")]
#[non_exhaustive]
pub struct OtherContact {
    /// The kind of the channel. `ChanlTp`.
    #[element("ChanlTp")]
    pub channel: Text<4>,
    /// The address in the channel. `Id`.
    #[element("Id")]
    pub id: Option<Text<128>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A way of contact.
///
/// `PreferredContactMethod1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "PreferredContactMethod1Code")]
#[non_exhaustive]
pub enum ContactMethod {
    /// The code `LETT`: a letter.
    #[code("LETT")]
    Letter,
    /// The code `MAIL`: an e-mail.
    #[code("MAIL")]
    Email,
    /// The code `PHON`: a telephone call.
    #[code("PHON")]
    Phone,
    /// The code `FAXX`: a fax.
    #[code("FAXX")]
    Fax,
    /// The code `CELL`: a call of a mobile telephone.
    #[code("CELL")]
    Mobile,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
