// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IGeoRoute} from "./interfaces/IGeoRoute.sol";
import {ITokenMessengerV2} from "./interfaces/ITokenMessengerV2.sol";

/// @title CctpRoute
/// @notice Burns one token of one vault with Circle's CCTP, to be minted to one recipient on one other chain.
/// @dev Everything is fixed at deployment. A user of the route can choose an amount, a fee up to the maximum, and a
/// speed, but not where the money goes.
contract CctpRoute is IGeoRoute {
    using SafeERC20 for IERC20;

    /// @notice The only caller.
    address public immutable VAULT;
    /// @notice Circle's TokenMessengerV2 on this chain.
    ITokenMessengerV2 public immutable MESSENGER;
    /// @notice The token that is burned.
    address public immutable TOKEN;
    /// @notice The other chain, as Circle numbers it.
    uint32 public immutable DOMAIN;
    /// @notice Who the token is minted to on the other chain.
    bytes32 public immutable RECIPIENT;
    /// @notice The maximum fee, in hundredths of a percent of the amount.
    uint256 public immutable MAX_FEE_BPS;

    /// @notice Only the vault may use the route.
    error OnlyVault(address caller);
    /// @notice The route is of another token.
    error WrongToken(address token);
    /// @notice The fee is above the route's maximum.
    error FeeTooHigh(uint256 fee, uint256 maxFee);

    /// @param vault The only caller.
    /// @param messenger Circle's TokenMessengerV2 on this chain.
    /// @param token The token that is burned.
    /// @param domain The other chain, as Circle numbers it.
    /// @param recipient Who the token is minted to on the other chain.
    /// @param maxFeeBps The maximum fee, in hundredths of a percent of the amount.
    constructor(
        address vault,
        ITokenMessengerV2 messenger,
        address token,
        uint32 domain,
        bytes32 recipient,
        uint256 maxFeeBps
    ) {
        VAULT = vault;
        MESSENGER = messenger;
        TOKEN = token;
        DOMAIN = domain;
        RECIPIENT = recipient;
        MAX_FEE_BPS = maxFeeBps;
    }

    /// @inheritdoc IGeoRoute
    /// @param data `abi.encode(uint256 fee, uint32 minFinalityThreshold)`: the maximum fee of this burn, and how final it
    /// must be before it is minted.
    function forward(address token, uint256 amount, bytes calldata data) external {
        if (msg.sender != VAULT) revert OnlyVault(msg.sender);
        if (token != TOKEN) revert WrongToken(token);
        (uint256 fee, uint32 minFinalityThreshold) = abi.decode(data, (uint256, uint32));
        uint256 maxFee = amount * MAX_FEE_BPS / 10_000;
        if (fee > maxFee) revert FeeTooHigh(fee, maxFee);
        IERC20(token).forceApprove(address(MESSENGER), amount);
        // There is no destination caller. Anyone may have the token minted, so a mint never waits for a key of the
        // service.
        MESSENGER.depositForBurn(amount, DOMAIN, RECIPIENT, token, bytes32(0), fee, minFinalityThreshold);
    }
}
