// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title DevHollowToken
/// @notice A third party's token for simulated chains. It moves nothing, and reports transfers as made.
contract DevHollowToken {
    mapping(address owner => uint256) public balanceOf;

    /// @notice Reports that it set an allowance.
    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    /// @notice Reports that it paid.
    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }

    /// @notice Mints what it reports as taken.
    function transferFrom(address, address to, uint256 amount) external returns (bool) {
        balanceOf[to] += amount;
        return true;
    }
}
