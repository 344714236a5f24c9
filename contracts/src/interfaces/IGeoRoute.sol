// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IGeoRoute
/// @notice A way out of a vault that can lead only to another vault of the same operator.
interface IGeoRoute {
    /// @notice Sends on what the vault has just paid to this contract. Only the vault may call.
    /// @param token The token that was paid.
    /// @param amount How much of it was paid.
    /// @param data The parameters of the route, see the route.
    function forward(address token, uint256 amount, bytes calldata data) external;
}
