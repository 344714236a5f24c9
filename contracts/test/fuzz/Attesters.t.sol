// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {Attestation, EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";

contract AttestersFuzzTest is Scene {
    /// @dev With any set, any threshold and any of its members signing, the order is decided if and only if at least
    /// one and at least as many as the threshold did.
    function testFuzz_aSetDecidesFromItsThresholdOn(uint8 size, uint8 threshold, uint8 members) public {
        uint256[] memory keys = _keys("member", 1 + size % 7);
        threshold = threshold % 9;
        uint256[] memory signers = _chosen(keys, members);
        (Order memory order, Attestation memory attestation) = _attested(keys, threshold, signers);
        if (threshold == 0 || signers.length < threshold) {
            vm.expectRevert(
                abi.encodeWithSelector(IGeoEscrow.ThresholdNotMet.selector, signers.length, uint256(threshold))
            );
            escrow.release(order, attestation);
        } else {
            escrow.release(order, attestation);
            _isState(order, EscrowState.Released);
        }
    }

    /// @dev Signatures in any order but the ascending one are refused.
    function testFuzz_onlyTheAscendingOrderOfSignersCounts(uint8 first, uint8 second) public {
        uint256[] memory keys = _keys("member", 5);
        uint256[] memory signers = _chosen(keys, 0x1f);
        (uint256 i, uint256 j) = (first % 5, second % 5);
        vm.assume(i != j);
        (signers[i], signers[j]) = (signers[j], signers[i]);
        (Order memory order, Attestation memory attestation) = _attested(keys, 3, signers);
        vm.expectPartialRevert(IGeoEscrow.InvalidAttester.selector);
        escrow.release(order, attestation);
    }

    /// @dev One signature that is altered, or of another signer, makes the attestation invalid.
    function testFuzz_oneWrongSignatureSpoilsAnAttestation(uint8 which, uint8 position, uint8 flip) public {
        vm.assume(flip != 0);
        uint256[] memory keys = _keys("member", 4);
        (Order memory order, Attestation memory attestation) = _attested(keys, 3, _chosen(keys, 0xf));
        bytes memory signature = attestation.signatures[which % 4];
        signature[position % 65] ^= bytes1(flip);
        (bool ok,) = address(escrow).call(abi.encodeCall(IGeoEscrow.release, (order, attestation)));
        vm.assertTrue(!ok, "accepted");
        _isState(order, EscrowState.Opened);
    }

    function _attested(uint256[] memory keys, uint256 threshold, uint256[] memory signers)
        private
        returns (Order memory order, Attestation memory attestation)
    {
        address[] memory addresses = new address[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            addresses[i] = vm.addr(keys[i]);
        }
        order = _order();
        order.attesterSet = _setOf(threshold, addresses);
        _open(order);
        attestation = _attestBy(threshold, addresses, signers, escrow.releaseDigest(_ids(order)));
    }

    function _chosen(uint256[] memory keys, uint8 members) private pure returns (uint256[] memory chosen) {
        uint256 count = 0;
        for (uint256 i = 0; i < keys.length; ++i) {
            if (members >> i & 1 == 1) ++count;
        }
        chosen = new uint256[](count);
        for (uint256 i = keys.length; i > 0; --i) {
            if (members >> (i - 1) & 1 == 1) chosen[--count] = keys[i - 1];
        }
    }
}
