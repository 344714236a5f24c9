// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAggregatorV3} from "../../src/interfaces/IAggregatorV3.sol";

/// @dev A feed of Chainlink's kind that answers what a test sets, or fails as a test sets.
contract PriceFeed is IAggregatorV3 {
    enum Failure {
        None,
        Reverts,
        BurnsGas,
        ReturnsTooLittle
    }

    error NoData();

    uint8 public decimals;
    int256 public answer;
    uint256 public startedAt;
    /// Zero means always the current second, so that the feed is never stale.
    uint256 public updatedAt;
    Failure public failure;

    constructor(uint8 decimals_, int256 answer_) {
        (decimals, answer) = (decimals_, answer_);
    }

    function setDecimals(uint8 value) external {
        decimals = value;
    }

    function setAnswer(int256 value) external {
        answer = value;
    }

    function setStartedAt(uint256 value) external {
        startedAt = value;
    }

    function setUpdatedAt(uint256 value) external {
        updatedAt = value;
    }

    function setFailure(Failure value) external {
        failure = value;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        if (failure == Failure.Reverts) revert NoData();
        if (failure == Failure.BurnsGas) {
            while (true) {}
        }
        if (failure == Failure.ReturnsTooLittle) {
            assembly ("memory-safe") {
                return(0, 32)
            }
        }
        return (1, answer, startedAt, updatedAt == 0 ? block.timestamp : updatedAt, 1);
    }
}
