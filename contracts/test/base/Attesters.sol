// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Attestation} from "../../src/interfaces/IGeoEscrow.sol";
import {vm} from "./Vm.sol";

/// @dev Sets of attesters whose keys the tests hold.
abstract contract Attesters {
    uint256 internal constant THRESHOLD = 2;

    /// @dev Ascending by address, as an order's set must be.
    uint256[] internal attesterKeys;
    address[] internal attesterAddresses;

    function _createAttesters(uint256 count) internal {
        uint256[] memory keys = _keys("attester", count);
        for (uint256 i = 0; i < count; ++i) {
            attesterKeys.push(keys[i]);
            attesterAddresses.push(vm.addr(keys[i]));
        }
    }

    /// @dev Keys whose addresses ascend.
    function _keys(string memory name, uint256 count) internal pure returns (uint256[] memory keys) {
        keys = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 key = uint256(keccak256(abi.encode(name, i)));
            uint256 place = i;
            while (place > 0 && vm.addr(keys[place - 1]) > vm.addr(key)) {
                keys[place] = keys[place - 1];
                --place;
            }
            keys[place] = key;
        }
    }

    function _set() internal view returns (bytes32) {
        return _setOf(THRESHOLD, attesterAddresses);
    }

    function _setOf(uint256 threshold, address[] memory addresses) internal pure returns (bytes32) {
        return keccak256(abi.encode(threshold, addresses));
    }

    /// @dev As many of the first attesters as the threshold requires.
    function _attest(bytes32 digest) internal view returns (Attestation memory) {
        uint256[] memory signers = new uint256[](THRESHOLD);
        for (uint256 i = 0; i < THRESHOLD; ++i) {
            signers[i] = attesterKeys[i];
        }
        return _attestBy(THRESHOLD, attesterAddresses, signers, digest);
    }

    function _attestBy(uint256 threshold, address[] memory addresses, uint256[] memory signers, bytes32 digest)
        internal
        pure
        returns (Attestation memory attestation)
    {
        attestation.threshold = threshold;
        attestation.attesters = addresses;
        attestation.signatures = new bytes[](signers.length);
        for (uint256 i = 0; i < signers.length; ++i) {
            attestation.signatures[i] = _signature(signers[i], digest);
        }
    }

    function _signature(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }
}
