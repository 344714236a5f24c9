// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Mandate} from "../../src/Mandate.sol";
import {vm} from "./Vm.sol";

/// @dev What a wallet's owner and an agent sign, and how it is handed to the wallet's code. Everything is encoded field
/// by field and apart from the contracts, so that both must agree.
abstract contract Signing {
    uint8 internal constant TYPED = 0;
    uint8 internal constant PERSONAL = 1;

    /// @dev The EIP-712 digest in an escrow's domain on the current chain.
    function _typedDigest(address escrow, bytes32 structHash) internal view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Geoswap"),
                keccak256("1"),
                vm.getChainId(),
                escrow
            )
        );
        return keccak256(bytes.concat(hex"1901", domain, structHash));
    }

    /// @dev What `personal_sign` signs of 32 bytes.
    function _personalDigest(bytes32 digest) internal pure returns (bytes32) {
        return keccak256(bytes.concat("\x19Ethereum Signed Message:\n32", digest));
    }

    function _sign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return bytes.concat(r, s, bytes1(v));
    }

    /// @dev A proof of one signature. It is the kind, then the signature over the typed digest or over its
    /// `personal_sign`.
    function _proofOf(uint8 kind, uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        return bytes.concat(bytes1(kind), _sign(key, kind == PERSONAL ? _personalDigest(digest) : digest));
    }

    function _revokeHash(address wallet, uint64 epoch) internal pure returns (bytes32) {
        return keccak256(
            bytes.concat(
                keccak256("RevokeMandates(address wallet,uint64 epoch)"),
                bytes32(uint256(uint160(wallet))),
                bytes32(uint256(epoch))
            )
        );
    }

    function _mandateHash(Mandate memory mandate) internal pure returns (bytes32) {
        bytes memory head = bytes.concat(
            keccak256(
                "Mandate(address wallet,address agent,uint64 epoch,uint64 expiry,uint32 period,address originVault,bytes32 attesterSet,InputCap[] inputs,OutputToken[] outputs,bytes32[] recipients)InputCap(address token,uint128 maxAmount)OutputToken(uint256 chainId,bytes32 token)"
            ),
            bytes32(uint256(uint160(mandate.wallet))),
            bytes32(uint256(uint160(mandate.agent))),
            bytes32(uint256(mandate.epoch)),
            bytes32(uint256(mandate.expiry)),
            bytes32(uint256(mandate.period)),
            bytes32(uint256(uint160(mandate.originVault))),
            mandate.attesterSet
        );
        return
            keccak256(
                bytes.concat(head, _inputsHash(mandate), _outputsHash(mandate), _recipientsHash(mandate.recipients))
            );
    }

    function _inputsHash(Mandate memory mandate) private pure returns (bytes32) {
        bytes memory all;
        for (uint256 i = 0; i < mandate.inputs.length; ++i) {
            bytes memory entry = bytes.concat(
                keccak256("InputCap(address token,uint128 maxAmount)"),
                bytes32(uint256(uint160(mandate.inputs[i].token))),
                bytes32(uint256(mandate.inputs[i].maxAmount))
            );
            all = bytes.concat(all, keccak256(entry));
        }
        return keccak256(all);
    }

    function _outputsHash(Mandate memory mandate) private pure returns (bytes32) {
        bytes memory all;
        for (uint256 i = 0; i < mandate.outputs.length; ++i) {
            bytes memory entry = bytes.concat(
                keccak256("OutputToken(uint256 chainId,bytes32 token)"),
                bytes32(mandate.outputs[i].chainId),
                mandate.outputs[i].token
            );
            all = bytes.concat(all, keccak256(entry));
        }
        return keccak256(all);
    }

    function _recipientsHash(bytes32[] memory recipients) private pure returns (bytes32) {
        bytes memory all;
        for (uint256 i = 0; i < recipients.length; ++i) {
            all = bytes.concat(all, recipients[i]);
        }
        return keccak256(all);
    }
}
