// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deadlines, Order} from "../../src/Order.sol";
import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {World} from "../base/World.sol";
import {vm} from "../base/Vm.sol";

/// @dev Cheatcodes that only this test uses.
interface JsonVm {
    function readFile(string calldata path) external view returns (string memory);
    function keyExistsJson(string calldata json, string calldata key) external view returns (bool);
    function parseJsonBytes32(string calldata json, string calldata key) external pure returns (bytes32);
    function parseJsonBytes32Array(string calldata json, string calldata key) external pure returns (bytes32[] memory);
    function parseJsonUint(string calldata json, string calldata key) external pure returns (uint256);
    function parseJsonAddress(string calldata json, string calldata key) external pure returns (address);
    function parseJsonAddressArray(string calldata json, string calldata key) external pure returns (address[] memory);
    function toString(uint256 value) external pure returns (string memory);
}

/// @dev The vectors are TypeScript's. The contracts accept what it signs and hashes.
contract OrderVectorsTest is World {
    JsonVm private constant JSON = JsonVm(address(vm));

    string private vectors;
    IGeoEscrow private escrow;

    function setUp() public {
        vectors = JSON.readFile("../packages/protocol/vectors/orders.json");
        vm.chainId(JSON.parseJsonUint(vectors, ".attestation.originChainId"));
        // The digests are bound to the escrow's address.
        address bound = JSON.parseJsonAddress(vectors, ".attestation.escrow");
        vm.etch(bound, address(_deployEscrow()).code);
        escrow = IGeoEscrow(bound);
    }

    function test_everyVectorOrderHasItsIdAndDigest() public view {
        uint256 count;
        for (; JSON.keyExistsJson(vectors, _path(count, "")); ++count) {
            bytes32 expected = JSON.parseJsonBytes32(vectors, _path(count, ".orderId"));
            vm.assertEq(escrow.orderIdOf(_order(count)), expected, "order id");
            bytes32 digest = JSON.parseJsonBytes32(vectors, _path(count, ".digest"));
            vm.assertEq(escrow.typedDigest(expected), digest, "digest");
        }
        vm.assertTrue(count >= 4, "the vectors were read");
    }

    function test_attesterSetAndDigestsAreTheVectors() public view {
        bytes32 set = keccak256(
            abi.encode(
                JSON.parseJsonUint(vectors, ".attesterSet.threshold"),
                JSON.parseJsonAddressArray(vectors, ".attesterSet.attesters")
            )
        );
        vm.assertEq(set, JSON.parseJsonBytes32(vectors, ".attesterSet.hash"), "attester set");
        bytes32[] memory ids = JSON.parseJsonBytes32Array(vectors, ".attestation.orderIds");
        bytes32 release = JSON.parseJsonBytes32(vectors, ".attestation.releaseDigest");
        bytes32 refund = JSON.parseJsonBytes32(vectors, ".attestation.refundDigest");
        vm.assertEq(escrow.releaseDigest(ids), release, "release digest");
        vm.assertEq(escrow.refundDigest(ids), refund, "refund digest");
    }

    function _order(uint256 i) private view returns (Order memory) {
        return Order({
            wallet: _field(i, "wallet"),
            inputToken: _field(i, "inputToken"),
            inputAmount: uint256(_field(i, "inputAmount")),
            originChainId: uint256(_field(i, "originChainId")),
            destinationChainId: uint256(_field(i, "destinationChainId")),
            outputToken: _field(i, "outputToken"),
            minOutput: uint256(_field(i, "minOutput")),
            recipient: _field(i, "recipient"),
            topUp: uint256(_field(i, "topUp")),
            escrow: _field(i, "escrow"),
            originVault: _field(i, "originVault"),
            destinationVault: _field(i, "destinationVault"),
            attesterSet: _field(i, "attesterSet"),
            swapKey: _field(i, "swapKey"),
            deadlines: Deadlines.wrap(uint256(_field(i, "deadlines")))
        });
    }

    function _field(uint256 i, string memory name) private view returns (bytes32) {
        return JSON.parseJsonBytes32(vectors, _path(i, string.concat(".order.", name)));
    }

    function _path(uint256 i, string memory rest) private pure returns (string memory) {
        return string.concat(".orders[", JSON.toString(i), "]", rest);
    }
}
