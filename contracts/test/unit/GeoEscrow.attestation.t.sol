// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {Order} from "../../src/Order.sol";
import {Attestation, EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {Scene} from "../base/Scene.sol";
import {vm} from "../base/Vm.sol";

contract GeoEscrowAttestationTest is Scene {
    /// @dev The order of the curve.
    uint256 private constant N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    Order private order;
    bytes32 private digest;

    function setUp() public override {
        super.setUp();
        order = _order();
        _open(order);
        digest = escrow.releaseDigest(_ids(order));
    }

    function test_digestsAreBoundToKindChainEscrowAndList() public {
        bytes32[] memory ids = _ids(order);
        vm.assertEq(digest, _digestByHand("Release(bytes32[] orderIds)", HERE, address(escrow), ids), "release");
        bytes32 refund = _digestByHand("Refund(bytes32[] orderIds)", HERE, address(escrow), ids);
        vm.assertEq(escrow.refundDigest(ids), refund, "refund");
        vm.chainId(THERE);
        bytes32 there = _digestByHand("Release(bytes32[] orderIds)", THERE, address(escrow), ids);
        vm.assertEq(escrow.releaseDigest(ids), there, "another chain");
    }

    function test_fewerSignaturesThanTheThresholdDecideNothing() public {
        _reverts(_by(_one(attesterKeys[0])), abi.encodeWithSelector(IGeoEscrow.ThresholdNotMet.selector, 1, 2));
    }

    function test_aThresholdOfZeroDecidesNothing() public {
        Order memory open = _order();
        open.attesterSet = _setOf(0, attesterAddresses);
        _open(open);
        Attestation memory attestation =
            _attestBy(0, attesterAddresses, new uint256[](0), escrow.releaseDigest(_ids(open)));
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.ThresholdNotMet.selector, 0, 0));
        escrow.release(open, attestation);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.ThresholdNotMet.selector, 0, 0));
        escrow.releaseMany(new Order[](0), attestation);
    }

    function test_aSignerCountsOnce() public {
        _reverts(
            _by(_two(attesterKeys[0], attesterKeys[0])),
            abi.encodeWithSelector(IGeoEscrow.InvalidAttester.selector, attesterAddresses[0])
        );
    }

    /// @dev A set that names an attester twice would otherwise let it sign alone.
    function test_aSignerThatTheSetNamesTwiceCountsOnce() public {
        address[] memory twice = new address[](2);
        (twice[0], twice[1]) = (attesterAddresses[0], attesterAddresses[0]);
        Order memory open = _order();
        open.attesterSet = _setOf(2, twice);
        _open(open);
        bytes32 open_ = escrow.releaseDigest(_ids(open));
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.InvalidAttester.selector, attesterAddresses[0]));
        escrow.release(open, _attestBy(2, twice, _two(attesterKeys[0], attesterKeys[0]), open_));
    }

    function test_signersAscend() public {
        _reverts(
            _by(_two(attesterKeys[1], attesterKeys[0])),
            abi.encodeWithSelector(IGeoEscrow.InvalidAttester.selector, attesterAddresses[0])
        );
    }

    function test_aStrangersSignatureSpoilsAnAttestation() public {
        uint256 key = uint256(keccak256("stranger"));
        uint256[] memory keys =
            vm.addr(key) > attesterAddresses[0] ? _two(attesterKeys[0], key) : _two(key, attesterKeys[0]);
        _reverts(_by(keys), abi.encodeWithSelector(IGeoEscrow.InvalidAttester.selector, vm.addr(key)));
    }

    function test_anotherSetDecidesNothing() public {
        address[] memory strangers = new address[](1);
        strangers[0] = stranger;
        Attestation memory attestation = _attestBy(1, strangers, _one(uint256(keccak256("stranger"))), digest);
        _reverts(
            attestation,
            abi.encodeWithSelector(IGeoEscrow.WrongAttesterSet.selector, order.attesterSet, _setOf(1, strangers))
        );
    }

    function test_aLowerThresholdIsAnotherSet() public {
        Attestation memory attestation = _attestBy(1, attesterAddresses, _one(attesterKeys[0]), digest);
        _reverts(
            attestation,
            abi.encodeWithSelector(
                IGeoEscrow.WrongAttesterSet.selector, order.attesterSet, _setOf(1, attesterAddresses)
            )
        );
    }

    function test_aReleaseIsNoRefundAndARefundNoRelease() public {
        Attestation memory attestation = _releaseAttestation(order);
        vm.expectPartialRevert(IGeoEscrow.InvalidAttester.selector);
        escrow.refundEarly(order, attestation);
        attestation = _refundAttestation(order);
        vm.expectPartialRevert(IGeoEscrow.InvalidAttester.selector);
        escrow.release(order, attestation);
    }

    function test_anAttestationOfAListIsNoneOfItsParts() public {
        Order memory second = _order();
        second.swapKey = "second";
        _open(second);
        Order[] memory both = _list(order, second);
        Attestation memory attestation = _attest(escrow.releaseDigest(_ids(both)));
        vm.expectPartialRevert(IGeoEscrow.InvalidAttester.selector);
        escrow.release(order, attestation);
        vm.expectPartialRevert(IGeoEscrow.InvalidAttester.selector);
        escrow.releaseMany(_list(second, order), attestation);
    }

    function test_aHighSignatureIsRefused() public {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(attesterKeys[0], digest);
        bytes32 high = bytes32(N - uint256(s));
        Attestation memory attestation = _releaseAttestation(order);
        attestation.signatures[0] = abi.encodePacked(r, high, v == 27 ? uint8(28) : uint8(27));
        _reverts(attestation, abi.encodeWithSelector(ECDSA.ECDSAInvalidSignatureS.selector, high));
    }

    function test_aSignatureOfAnotherLengthIsRefused() public {
        Attestation memory attestation = _releaseAttestation(order);
        attestation.signatures[0] = new bytes(64);
        _reverts(attestation, abi.encodeWithSelector(ECDSA.ECDSAInvalidSignatureLength.selector, 64));
    }

    function test_aSignatureOfNobodyIsRefused() public {
        Attestation memory attestation = _releaseAttestation(order);
        attestation.signatures[0] = new bytes(65);
        _reverts(attestation, abi.encodeWithSelector(ECDSA.ECDSAInvalidSignature.selector));
    }

    function test_moreThanTheThresholdIsNotTooMany() public {
        escrow.release(order, _by(attesterKeys));
        _isState(order, EscrowState.Released);
    }

    function _reverts(Attestation memory attestation, bytes memory reason) private {
        vm.expectRevert(reason);
        escrow.release(order, attestation);
    }

    function _by(uint256[] memory keys) private view returns (Attestation memory) {
        return _attestBy(THRESHOLD, attesterAddresses, keys, digest);
    }

    function _one(uint256 key) private pure returns (uint256[] memory keys) {
        keys = new uint256[](1);
        keys[0] = key;
    }

    function _two(uint256 first, uint256 second) private pure returns (uint256[] memory keys) {
        keys = new uint256[](2);
        (keys[0], keys[1]) = (first, second);
    }

    function _digestByHand(string memory kind, uint256 chainId, address escrow_, bytes32[] memory ids)
        private
        pure
        returns (bytes32)
    {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Geoswap"),
                keccak256("1"),
                chainId,
                escrow_
            )
        );
        bytes32 message = keccak256(abi.encode(keccak256(bytes(kind)), keccak256(abi.encodePacked(ids))));
        return keccak256(abi.encodePacked(hex"1901", domain, message));
    }
}
