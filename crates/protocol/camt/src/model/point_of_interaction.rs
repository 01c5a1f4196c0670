//! Points of interaction: terminals and their capabilities.

use crate::*;

/// The place where a card was used: usually a terminal.
///
/// `PointOfInteraction1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PointOfInteraction1")]
#[non_exhaustive]
pub struct PointOfInteraction {
    /// The element `Id`.
    #[element("Id")]
    pub id: PointOfInteractionId,
    /// The element `SysNm`.
    #[element("SysNm")]
    pub system_name: Option<Text<70>>,
    /// The element `GrpId`.
    #[element("GrpId")]
    pub group_id: Option<Text<35>>,
    /// The element `Cpblties`.
    #[element("Cpblties")]
    pub capabilities: Option<Box<PointOfInteractionCapabilities>>,
    /// The element `Cmpnt`.
    #[element("Cmpnt")]
    pub components: Vec<PointOfInteractionComponent>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The identification of a point of interaction.
///
/// `GenericIdentification32` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericIdentification32")]
#[non_exhaustive]
pub struct PointOfInteractionId {
    /// The element `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: Option<PointOfInteractionIdType>,
    /// The element `Issr`.
    #[element("Issr")]
    pub issuer: Option<PointOfInteractionIdIssuer>,
    /// The element `ShrtNm`.
    #[element("ShrtNm")]
    pub short_name: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The capabilities of a terminal.
///
/// `PointOfInteractionCapabilities1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PointOfInteractionCapabilities1")]
#[non_exhaustive]
pub struct PointOfInteractionCapabilities {
    /// The element `CardRdngCpblties`.
    #[element("CardRdngCpblties")]
    pub card_reading: Vec<CardReading>,
    /// The element `CrdhldrVrfctnCpblties`.
    #[element("CrdhldrVrfctnCpblties")]
    pub cardholder_verification: Vec<CardholderVerification>,
    /// The element `OnLineCpblties`.
    #[element("OnLineCpblties")]
    pub online: Option<OnlineCapability>,
    /// The element `DispCpblties`.
    #[element("DispCpblties")]
    pub display: Vec<DisplayCapabilities>,
    /// The element `PrtLineWidth`.
    #[element("PrtLineWidth")]
    pub print_line_width: Option<Digits<1, 3>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A component of a terminal.
///
/// `PointOfInteractionComponent1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PointOfInteractionComponent1")]
#[non_exhaustive]
pub struct PointOfInteractionComponent {
    /// The element `POICmpntTp`.
    #[element("POICmpntTp")]
    pub kind: ComponentType,
    /// The element `ManfctrId`.
    #[element("ManfctrId")]
    pub manufacturer: Option<Text<35>>,
    /// The element `Mdl`.
    #[element("Mdl")]
    pub model: Option<Text<35>>,
    /// The element `VrsnNb`.
    #[element("VrsnNb")]
    pub version: Option<Text<16>>,
    /// The element `SrlNb`.
    #[element("SrlNb")]
    pub serial_number: Option<Text<35>>,
    /// The element `ApprvlNb`.
    #[element("ApprvlNb")]
    pub approval_numbers: Vec<Text<70>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A display of a terminal.
///
/// `DisplayCapabilities1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DisplayCapabilities1")]
#[non_exhaustive]
pub struct DisplayCapabilities {
    /// The element `DispTp`.
    #[element("DispTp")]
    pub kind: DisplayType,
    /// The element `NbOfLines`.
    #[element("NbOfLines")]
    pub lines: Digits<1, 3>,
    /// The element `LineWidth`.
    #[element("LineWidth")]
    pub line_width: Digits<1, 3>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An identification, its scheme and its issuer.
///
/// `GenericIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericIdentification1")]
#[non_exhaustive]
pub struct GenericId {
    /// The element `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The element `SchmeNm`.
    #[element("SchmeNm")]
    pub scheme: Option<Text<35>>,
    /// The element `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The ways in which card data is read.
///
/// `CardDataReading1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CardDataReading1Code")]
#[non_exhaustive]
pub enum CardReading {
    /// The code `TAGC`.
    #[code("TAGC")]
    Tag,
    /// The code `PHYS`.
    #[code("PHYS")]
    Keyed,
    /// The code `BRCD`.
    #[code("BRCD")]
    BarCode,
    /// The code `MGST`.
    #[code("MGST")]
    MagneticStripe,
    /// The code `CICC`.
    #[code("CICC")]
    Chip,
    /// The code `DFLE`.
    #[code("DFLE")]
    OnFile,
    /// The code `CTLS`.
    #[code("CTLS")]
    ContactlessMagneticStripe,
    /// The code `ECTL`.
    #[code("ECTL")]
    ContactlessChip,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The ways in which a terminal can verify a cardholder.
///
/// `CardholderVerificationCapability1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CardholderVerificationCapability1Code")]
#[non_exhaustive]
pub enum CardholderVerification {
    /// The code `MNSG`.
    #[code("MNSG")]
    ManualSignature,
    /// The code `NPIN`.
    #[code("NPIN")]
    OnlinePin,
    /// The code `FCPN`.
    #[code("FCPN")]
    OfflinePinClear,
    /// The code `FEPN`.
    #[code("FEPN")]
    OfflinePinEncrypted,
    /// The code `FDSG`.
    #[code("FDSG")]
    DigitalSignature,
    /// The code `FBIO`.
    #[code("FBIO")]
    OfflineBiometrics,
    /// The code `MNVR`.
    #[code("MNVR")]
    ManualVerification,
    /// The code `FBIG`.
    #[code("FBIG")]
    OfflineBiographics,
    /// The code `APKI`.
    #[code("APKI")]
    AccountDigitalSignature,
    /// The code `PKIS`.
    #[code("PKIS")]
    PkiSignature,
    /// The code `CHDT`.
    #[code("CHDT")]
    CardholderData,
    /// The code `SCEC`.
    #[code("SCEC")]
    SecureElectronicCommerce,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The on-line capability of a terminal.
///
/// `OnLineCapability1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "OnLineCapability1Code")]
#[non_exhaustive]
pub enum OnlineCapability {
    /// The code `OFLN`.
    #[code("OFLN")]
    Offline,
    /// The code `ONLN`.
    #[code("ONLN")]
    Online,
    /// The code `SMON`.
    #[code("SMON")]
    SemiOnline,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// A component of a point of interaction.
///
/// `POIComponentType1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "POIComponentType1Code")]
#[non_exhaustive]
pub enum ComponentType {
    /// The code `SOFT`.
    #[code("SOFT")]
    Software,
    /// The code `EMVK`.
    #[code("EMVK")]
    EmvKernel,
    /// The code `EMVO`.
    #[code("EMVO")]
    EmvLevel1,
    /// The code `MRIT`.
    #[code("MRIT")]
    MerchantTerminal,
    /// The code `CHIT`.
    #[code("CHIT")]
    CardholderTerminal,
    /// The code `SECM`.
    #[code("SECM")]
    SecurityModule,
    /// The code `PEDV`.
    #[code("PEDV")]
    PinEntryDevice,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The kind of party that a point of interaction is identified by.
///
/// `PartyType3Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "PartyType3Code")]
#[non_exhaustive]
pub enum PointOfInteractionIdType {
    /// The code `OPOI`.
    #[code("OPOI")]
    OriginatingTerminal,
    /// The code `MERC`.
    #[code("MERC")]
    Merchant,
    /// The code `ACCP`.
    #[code("ACCP")]
    Acceptor,
    /// The code `ITAG`.
    #[code("ITAG")]
    IntermediaryAgent,
    /// The code `ACQR`.
    #[code("ACQR")]
    Acquirer,
    /// The code `CISS`.
    #[code("CISS")]
    CardIssuer,
    /// The code `DLIS`.
    #[code("DLIS")]
    DelegateIssuer,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The kind of party that issued an identification of a point of interaction.
///
/// `PartyType4Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "PartyType4Code")]
#[non_exhaustive]
pub enum PointOfInteractionIdIssuer {
    /// The code `MERC`.
    #[code("MERC")]
    Merchant,
    /// The code `ACCP`.
    #[code("ACCP")]
    Acceptor,
    /// The code `ITAG`.
    #[code("ITAG")]
    IntermediaryAgent,
    /// The code `ACQR`.
    #[code("ACQR")]
    Acquirer,
    /// The code `CISS`.
    #[code("CISS")]
    CardIssuer,
    /// The code `TAXH`.
    #[code("TAXH")]
    TaxAuthority,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The people that a display is for.
///
/// `UserInterface2Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "UserInterface2Code")]
#[non_exhaustive]
pub enum DisplayType {
    /// The code `MDSP`.
    #[code("MDSP")]
    Merchant,
    /// The code `CDSP`.
    #[code("CDSP")]
    Cardholder,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
