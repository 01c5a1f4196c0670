//! Points of interaction: terminals and their capabilities.

use crate::*;

record! {
    /// The place where a card was used: usually a terminal.
    PointOfInteraction = "PointOfInteraction1" {
        id: 1..1 PointOfInteractionId = "Id",
        system_name: 0..1 Text<70> = "SysNm",
        group_id: 0..1 Text<35> = "GrpId",
        capabilities: 0..1 Box<PointOfInteractionCapabilities> = "Cpblties",
        components: 0..* PointOfInteractionComponent = "Cmpnt",
    }

    /// The identification of a point of interaction.
    PointOfInteractionId = "GenericIdentification32" {
        id: 1..1 Text<35> = "Id",
        kind: 0..1 PointOfInteractionIdType = "Tp",
        issuer: 0..1 PointOfInteractionIdIssuer = "Issr",
        short_name: 0..1 Text<35> = "ShrtNm",
    }

    /// What a terminal can do.
    PointOfInteractionCapabilities = "PointOfInteractionCapabilities1" {
        card_reading: 0..* CardReading = "CardRdngCpblties",
        cardholder_verification: 0..* CardholderVerification = "CrdhldrVrfctnCpblties",
        online: 0..1 OnlineCapability = "OnLineCpblties",
        display: 0..* DisplayCapabilities = "DispCpblties",
        print_line_width: 0..1 Digits<1, 3> = "PrtLineWidth",
    }

    /// A component of a terminal.
    PointOfInteractionComponent = "PointOfInteractionComponent1" {
        kind: 1..1 ComponentType = "POICmpntTp",
        manufacturer: 0..1 Text<35> = "ManfctrId",
        model: 0..1 Text<35> = "Mdl",
        version: 0..1 Text<16> = "VrsnNb",
        serial_number: 0..1 Text<35> = "SrlNb",
        approval_numbers: 0..* Text<70> = "ApprvlNb",
    }

    /// A display of a terminal.
    DisplayCapabilities = "DisplayCapabilities1" {
        kind: 1..1 DisplayType = "DispTp",
        lines: 1..1 Digits<1, 3> = "NbOfLines",
        line_width: 1..1 Digits<1, 3> = "LineWidth",
    }

    /// An identification, its scheme and who issued it.
    GenericId = "GenericIdentification1" {
        id: 1..1 Text<35> = "Id",
        scheme: 0..1 Text<35> = "SchmeNm",
        issuer: 0..1 Text<35> = "Issr",
    }
}

codes! {
    /// How card data is read.
    CardReading = "CardDataReading1Code" {
        Tag = "TAGC", Keyed = "PHYS", BarCode = "BRCD", MagneticStripe = "MGST", Chip = "CICC", OnFile = "DFLE",
        ContactlessMagneticStripe = "CTLS", ContactlessChip = "ECTL",
    }

    /// How a terminal can verify a cardholder.
    CardholderVerification = "CardholderVerificationCapability1Code" {
        ManualSignature = "MNSG", OnlinePin = "NPIN", OfflinePinClear = "FCPN", OfflinePinEncrypted = "FEPN",
        DigitalSignature = "FDSG", OfflineBiometrics = "FBIO", ManualVerification = "MNVR",
        OfflineBiographics = "FBIG", AccountDigitalSignature = "APKI", PkiSignature = "PKIS", CardholderData = "CHDT",
        SecureElectronicCommerce = "SCEC",
    }

    /// Whether a terminal works on line.
    OnlineCapability = "OnLineCapability1Code" {
        Offline = "OFLN", Online = "ONLN", SemiOnline = "SMON",
    }

    /// A component of a point of interaction.
    ComponentType = "POIComponentType1Code" {
        Software = "SOFT", EmvKernel = "EMVK", EmvLevel1 = "EMVO", MerchantTerminal = "MRIT",
        CardholderTerminal = "CHIT", SecurityModule = "SECM", PinEntryDevice = "PEDV",
    }

    /// Whose identification of a point of interaction it is.
    PointOfInteractionIdType = "PartyType3Code" {
        OriginatingTerminal = "OPOI", Merchant = "MERC", Acceptor = "ACCP", IntermediaryAgent = "ITAG",
        Acquirer = "ACQR", CardIssuer = "CISS", DelegateIssuer = "DLIS",
    }

    /// Who issued an identification of a point of interaction.
    PointOfInteractionIdIssuer = "PartyType4Code" {
        Merchant = "MERC", Acceptor = "ACCP", IntermediaryAgent = "ITAG", Acquirer = "ACQR", CardIssuer = "CISS",
        TaxAuthority = "TAXH",
    }

    /// For whom a display is.
    DisplayType = "UserInterface2Code" {
        Merchant = "MDSP", Cardholder = "CDSP",
    }
}
