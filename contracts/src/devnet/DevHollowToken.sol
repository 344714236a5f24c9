// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title DevHollowToken
/// @notice A stranger's token for simulated chains: it takes from nobody and pays nobody, and says that it did.
contract DevHollowToken {
    mapping(address owner => uint256) public balanceOf;

    /// @notice Says that it set an allowance.
    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    /// @notice Says that it paid.
    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }

    /// @notice Makes what it says that it took.
    function transferFrom(address, address to, uint256 amount) external returns (bool) {
        balanceOf[to] += amount;
        return true;
    }
}
