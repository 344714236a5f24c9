// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The one call that a route makes of Circle's TokenMessengerV2.
interface ITokenMessengerV2 {
    /// @notice Burns tokens of the caller, to be minted on another chain.
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external;
}
