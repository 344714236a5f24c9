// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The calls that the vault makes of a Chainlink feed.
interface IAggregatorV3 {
    /// @notice The decimals of an answer.
    function decimals() external view returns (uint8);

    /// @notice The latest answer. A price feed answers a price; a sequencer uptime feed answers 0 while it is up, and
    /// `startedAt` is since when.
    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
}
