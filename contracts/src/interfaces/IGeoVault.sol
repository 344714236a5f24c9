// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../Order.sol";

/// @notice What a vault knows of an order.
enum VaultState {
    None,
    Filled,
    Voided
}

/// @notice How to deliver an order's output.
struct Fill {
    Order order;
    /// From stock: what is sent to the recipient. Through the router: what is spent of the settlement token.
    uint256 amount;
    /// The least that must arrive, where a fresh price asks for more than the order does.
    uint256 minOutput;
    /// Fee tier of the pool from the settlement token. Zero delivers from stock.
    uint24 poolFee;
    /// Fee tier of a second pool, from the wrapped native token to the output. Zero is one hop.
    uint24 secondPoolFee;
}

/// @title IGeoVault
/// @notice The service's stock on one chain. Each order is filled once or voided once, never both.
interface IGeoVault {
    /// @notice An order's output was delivered.
    event Filled(bytes32 indexed orderId, uint256 delivered, address spentToken, uint256 spent);
    /// @notice An order was closed for good without a fill.
    event Voided(bytes32 indexed orderId);
    /// @notice A batch passed over an order that it could not fill or void. `reason` is the error's selector.
    event Skipped(bytes32 indexed orderId, bytes4 reason);
    /// @notice A token's outflow cap was set.
    event OutflowCapSet(address indexed token, uint256 perHour);
    /// @notice Stock was withdrawn.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @notice The order is to be filled on another chain or by another vault.
    error WrongVault(uint256 destinationChainId, bytes32 destinationVault);
    /// @notice A same-chain order whose input is not held by this vault's escrow, or would not come to this vault.
    error WrongOrigin(bytes32 escrow, bytes32 originVault);
    /// @notice A fill of nothing.
    error ZeroAmount();
    /// @notice The router delivers only tokens that have an outflow cap.
    error NotListed(address token);
    /// @notice The order was filled or voided before.
    error AlreadyDecided(bytes32 orderId);
    /// @notice The order's fill deadline has come.
    error FillExpired(uint256 fillDeadline);
    /// @notice The recipient got less than the order's minimum, or the fill's.
    error TooLittleDelivered(uint256 delivered, uint256 minimum);
    /// @notice The pools did not take the whole budget.
    error BudgetNotSpent(uint256 left);
    /// @notice The recipient could not be paid in the native token.
    error NativeTransferFailed(address to);
    /// @notice The token's outflow cap leaves less than was asked for.
    error OutflowCapExceeded(address token, uint256 asked, uint256 available);
    /// @notice The call has too little gas to make a payment that can be trusted to have failed by itself.
    error InsufficientGas();
    /// @notice Only the vault itself calls this, one item of a batch at a time.
    error OnlySelf();

    /// @notice Delivers an order's output. Operator.
    function fill(Fill calldata item) external;

    /// @notice Delivers many; passes over those that fail. Operator.
    function fillMany(Fill[] calldata items) external;

    /// @notice Closes an unfilled order for good. Operator; never paused.
    function void(Order calldata order) external;

    /// @notice Closes many; passes over those already decided and those of other vaults. Operator; never paused.
    function voidMany(Order[] calldata orders) external;

    /// @notice Stops filling. Guardian.
    function pause() external;

    /// @notice Resumes filling. Admin.
    function unpause() external;

    /// @notice Sets what may leave of a token by fills: this much at once, and this much more each hour. A token
    /// without a cap is not delivered at all. Admin.
    function setOutflowCap(address token, uint96 perHour) external;

    /// @notice Takes stock out. Treasury.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice Claims the vault's credit in its escrow to another address. Treasury.
    function claimCredit(address token, address to) external;

    /// @notice What this vault knows of an order.
    function orderState(bytes32 orderId) external view returns (VaultState);

    /// @notice What may leave of a token by fills at once, and more of it each hour.
    function outflowCap(address token) external view returns (uint256);

    /// @notice What may leave of a token by fills right now.
    function outflowAvailable(address token) external view returns (uint256);
}
