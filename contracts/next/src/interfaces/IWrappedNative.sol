// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The calls that the vault makes of WETH9.
interface IWrappedNative {
    /// @notice Turns the native token into the wrapped one.
    function deposit() external payable;

    /// @notice Turns the wrapped token back into the native one.
    function withdraw(uint256 amount) external;
}
