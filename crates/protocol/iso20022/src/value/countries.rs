//! Country codes of ISO 3166-1, and `XK`, which BICs of Kosovo use.

/// Sorted, two letters each.
const ASSIGNED: &str = "\
    ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZ\
    DEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJM\
    JOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONP\
    NRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTCTDTFTGTHTJTKTLTMTNTO\
    TRTTTVTWTZUAUGUMUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW";

pub(super) fn is_assigned(code: &str) -> bool {
    ASSIGNED
        .as_bytes()
        .chunks(2)
        .any(|assigned| assigned == code.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_complete() {
        let codes: Vec<&[u8]> = ASSIGNED.as_bytes().chunks(2).collect();
        assert!(codes.is_sorted());
        assert_eq!(codes.len(), 250);
        assert!(is_assigned("AU") && is_assigned("XK") && !is_assigned("ZZ") && !is_assigned("A"));
    }
}
