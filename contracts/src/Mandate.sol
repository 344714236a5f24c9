// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Limit for one input token. This amount may leave immediately, and refills within a period.
struct InputCap {
    address token;
    uint128 maxAmount;
}

/// @notice A token of a chain that may be bought.
struct OutputToken {
    uint256 chainId;
    bytes32 token;
}

/// @notice The limits within which an agent's key may swap from a wallet. The owner signs it as EIP-712 typed data; no
/// transaction is needed. It is good on one chain, the one of the domain that it was signed in.
struct Mandate {
    address wallet;
    address agent;
    /// The wallet's epoch on this chain. Revoking all mandates raises it.
    uint64 epoch;
    /// The first second in which the mandate is no longer good.
    uint64 expiry;
    /// The seconds in which a used cap becomes free again.
    uint32 period;
    /// The desk that must be paid, because a vault of another could keep the input and deliver nothing.
    address originVault;
    bytes32 attesterSet;
    InputCap[] inputs;
    /// The tokens that may be bought. An empty list allows all.
    OutputToken[] outputs;
    /// The addresses that may receive the output beside the wallet itself.
    bytes32[] recipients;
}

bytes32 constant INPUT_CAP_TYPEHASH = keccak256("InputCap(address token,uint128 maxAmount)");
bytes32 constant OUTPUT_TOKEN_TYPEHASH = keccak256("OutputToken(uint256 chainId,bytes32 token)");
bytes32 constant MANDATE_TYPEHASH = keccak256(
    "Mandate(address wallet,address agent,uint64 epoch,uint64 expiry,uint32 period,address originVault,bytes32 attesterSet,InputCap[] inputs,OutputToken[] outputs,bytes32[] recipients)InputCap(address token,uint128 maxAmount)OutputToken(uint256 chainId,bytes32 token)"
);

using {mandateHash} for Mandate global;

/// @dev The mandate's EIP-712 struct hash.
function mandateHash(Mandate memory mandate) pure returns (bytes32) {
    bytes32[] memory inputs = new bytes32[](mandate.inputs.length);
    for (uint256 i = 0; i < inputs.length; ++i) {
        inputs[i] = keccak256(abi.encode(INPUT_CAP_TYPEHASH, mandate.inputs[i]));
    }
    bytes32[] memory outputs = new bytes32[](mandate.outputs.length);
    for (uint256 i = 0; i < outputs.length; ++i) {
        outputs[i] = keccak256(abi.encode(OUTPUT_TOKEN_TYPEHASH, mandate.outputs[i]));
    }
    return keccak256(
        abi.encode(
            MANDATE_TYPEHASH,
            mandate.wallet,
            mandate.agent,
            mandate.epoch,
            mandate.expiry,
            mandate.period,
            mandate.originVault,
            mandate.attesterSet,
            keccak256(abi.encodePacked(inputs)),
            keccak256(abi.encodePacked(outputs)),
            keccak256(abi.encodePacked(mandate.recipients))
        )
    );
}
