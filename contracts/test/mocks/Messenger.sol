// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITokenMessengerV2} from "../../src/interfaces/ITokenMessengerV2.sol";
import {Token} from "./Token.sol";

/// @dev A model of Circle's TokenMessengerV2: it refuses what Circle's refuses, and takes the tokens. Where Circle's
/// burns, this one keeps them, so that a test can count them.
contract Messenger is ITokenMessengerV2 {
    struct Burn {
        uint256 amount;
        uint32 domain;
        bytes32 recipient;
        address token;
        bytes32 destinationCaller;
        uint256 maxFee;
        uint32 minFinalityThreshold;
        address depositor;
    }

    Burn[] private _burns;
    mapping(uint32 domain => bool) public isKnown;
    /// What it takes of an amount, in bps. Circle's takes all.
    uint256 public takenBps = 10_000;

    function setKnown(uint32 domain, bool value) external {
        isKnown[domain] = value;
    }

    function setTaken(uint256 bps) external {
        takenBps = bps;
    }

    function count() external view returns (uint256) {
        return _burns.length;
    }

    function last() external view returns (Burn memory) {
        return _burns[_burns.length - 1];
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        require(amount > 0, "Amount must be nonzero");
        require(mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(maxFee < amount, "Max fee must be less than amount");
        require(isKnown[destinationDomain], "No TokenMessenger for domain");
        require(
            Token(burnToken).transferFrom(msg.sender, address(this), amount * takenBps / 10_000),
            "Transfer operation failed"
        );
        _burns.push(
            Burn(
                amount,
                destinationDomain,
                mintRecipient,
                burnToken,
                destinationCaller,
                maxFee,
                minFinalityThreshold,
                msg.sender
            )
        );
    }
}
