// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title DevFeed
/// @notice A price feed for development chains, with the interface of Chainlink's AggregatorV3. Anyone may set it.
contract DevFeed {
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    uint8 public constant decimals = 8;
    uint256 public constant version = 1;
    string public description;

    uint80 private _latest;
    mapping(uint80 roundId => Round) private _rounds;

    constructor(string memory description_, int256 answer) {
        description = description_;
        setAnswer(answer);
    }

    /// @notice Starts a new round.
    function setAnswer(int256 answer) public {
        _rounds[++_latest] = Round(answer, block.timestamp);
        emit AnswerUpdated(answer, _latest, block.timestamp);
    }

    /// @notice Starts a new round with the answer of the last: the price stays, only its age goes.
    function refresh() external {
        setAnswer(_rounds[_latest].answer);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(_latest);
    }

    function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {
        Round storage round = _rounds[roundId];
        return (roundId, round.answer, round.updatedAt, round.updatedAt, roundId);
    }
}
