// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Mandate} from "../../src/Mandate.sol";
import {Order} from "../../src/Order.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {EscrowState} from "../../src/interfaces/IGeoEscrow.sol";
import {termsOf} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Wallets} from "../base/Wallets.sol";

contract MandatesRevokeTest is Wallets {
    uint256 private constant CAP = 1000e6;

    function test_theWalletItselfRevokesAllItsMandates() public {
        vm.expectEmit(wallet);
        emit IGeoAccount.MandatesRevoked(1);
        vm.prank(wallet);
        _mine().revokeMandates("");
        vm.assertEq(_mine().mandateEpoch(), 1, "epoch");
        _isOutside(_mandate(), _agentOrder(1));
    }

    function test_anyoneRevokesWithTheWalletsSignature() public {
        for (uint8 kind = TYPED; kind <= PERSONAL; ++kind) {
            bytes memory proof = _revocation(kind, KEY, kind);
            vm.expectEmit(wallet);
            emit IGeoAccount.MandatesRevoked(kind + 1);
            vm.prank(stranger);
            _mine().revokeMandates(proof);
        }
        vm.assertEq(_mine().mandateEpoch(), 2, "epoch");
        _isOutside(_mandate(), _agentOrder(1));
    }

    function test_nobodyElseRevokes() public {
        bytes memory byAgent = _revocation(TYPED, AGENT_KEY, 0);
        vm.expectRevert(abi.encodeWithSelector(IGeoAccount.WrongSigner.selector, agent));
        _mine().revokeMandates(byAgent);
        vm.expectRevert(IGeoAccount.InvalidProof.selector);
        vm.prank(agent);
        _mine().revokeMandates("");
        // Nor does a revocation of another wallet or chain count.
        bytes memory ofAnother = _proofOf(TYPED, KEY, _typedDigest(address(escrow), _revokeHash(stranger, 0)));
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        _mine().revokeMandates(ofAnother);
        bytes memory ofHere = _revocation(TYPED, KEY, 0);
        vm.chainId(THERE);
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        _mine().revokeMandates(ofHere);
        vm.assertEq(_mine().mandateEpoch(), 0, "epoch");
    }

    function test_aRevocationCountsOnce() public {
        bytes memory proof = _revocation(TYPED, KEY, 0);
        _mine().revokeMandates(proof);
        Mandate memory next = _mandate();
        next.epoch = 1;
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        _mine().revokeMandates(proof);
        // One for a later epoch cannot be used before that.
        bytes memory later = _revocation(TYPED, KEY, 2);
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        _mine().revokeMandates(later);
        _agentOpens(next, _agentOrder(CAP));
    }

    /// @dev What comes first in the block counts.
    function test_aRevocationCountsFromTheTransactionAfterItInItsOwnBlock() public {
        _agentOpens(_mandate(), _agentOrder(1));
        Order memory order = _agentOrder(2);
        bytes memory signedBefore = _agentProof(_mandate(), order);
        _mine().revokeMandates(_revocation(TYPED, KEY, 0));
        _openForReverts(order, signedBefore, abi.encodeWithSelector(IGeoAccount.OutsideMandate.selector));
    }

    /// @dev Open orders end as they would have. Their input goes to the desk or back to the wallet.
    function test_aRevocationDoesNotTouchOpenOrders() public {
        Order memory order = _agentOrder(CAP);
        _agentOpens(_mandate(), order);
        vm.prank(wallet);
        _mine().revokeMandates("");
        _isState(order, EscrowState.Opened);
        vm.warp(REFUND_AFTER);
        uint256 before = plain.balanceOf(wallet);
        escrow.refund(order);
        vm.assertEq(plain.balanceOf(wallet) - before, CAP, "refunded");
    }

    function test_aReissuedMandateBeginsWithItsWholeCap() public {
        _agentOpens(_mandate(), _agentOrder(CAP));
        vm.prank(wallet);
        _mine().revokeMandates("");
        Mandate memory next = _mandate();
        next.epoch = 1;
        Order memory order = _agentOrder(CAP);
        order.swapKey = keccak256("next");
        _agentOpens(next, order);
    }

    /// @dev Removing a delegation ends no mandate. It is good again, with what it had used, once the wallet delegates
    /// anew. So a wallet revokes before it removes its delegation.
    function test_aMandateAndWhatWasUsedOfItSurviveRedelegation() public {
        _agentOpens(_mandate(), _agentOrder(600e6));
        vm.etch(wallet, "");
        Order memory order = _agentOrder(400e6);
        bytes memory proof = _agentProof(_mandate(), order);
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
        vm.signAndAttachDelegation(typedOnly, KEY);
        _openFor(order, proof);
        _isState(order, EscrowState.Opened);
        bytes memory reason = abi.encodeWithSelector(IGeoAccount.MandateExceeded.selector, 1, 0);
        _agentReverts(_mandate(), _agentOrder(1), reason);
    }

    /// @dev A wallet without code takes any call and does nothing. So the epoch that is read afterwards decides.
    function test_revokingWithoutCodeDoesNothing() public {
        bytes memory revocation = _revocation(TYPED, KEY, 0);
        vm.etch(wallet, "");
        (bool ok,) = wallet.call(abi.encodeCall(IGeoAccount.revokeMandates, (revocation)));
        vm.assertTrue(ok, "silent");
        _delegate(wallet, account);
        vm.assertEq(_mine().mandateEpoch(), 0, "epoch");
        _agentOpens(_mandate(), _agentOrder(1));
    }

    function test_theEpochSurvivesRedelegation() public {
        vm.prank(wallet);
        _mine().revokeMandates("");
        vm.etch(wallet, "");
        _delegate(wallet, typedOnly);
        vm.assertEq(_mine().mandateEpoch(), 1, "epoch");
        _isOutside(_mandate(), _agentOrder(1));
    }

    /// @dev Epoch and usage are where ERC-7201 puts `geoswap.account`, clear of any other delegate's storage.
    function test_mandatesUseOnlyTheAccountsOwnNamespace() public {
        bytes32 base = keccak256(abi.encode(uint256(keccak256("geoswap.account")) - 1)) & ~bytes32(uint256(0xff));
        bytes32 usage =
            keccak256(abi.encode(address(plain), keccak256(abi.encode(_mandateHash(_mandate()), uint256(base) + 1))));
        bytes memory proof = _agentProof(_mandate(), _agentOrder(1));
        vm.record();
        _openFor(_agentOrder(1), proof);
        vm.prank(wallet);
        _mine().revokeMandates("");
        (, bytes32[] memory writes) = vm.accesses(wallet);
        for (uint256 i = 0; i < writes.length; ++i) {
            vm.assertTrue(writes[i] == base || writes[i] == usage, "another slot");
        }
        vm.assertLe(2, writes.length, "writes");
    }

    function _revocation(uint8 kind, uint256 key, uint64 epoch) private view returns (bytes memory) {
        return _proofOf(kind, key, _typedDigest(address(escrow), _revokeHash(wallet, epoch)));
    }
}
