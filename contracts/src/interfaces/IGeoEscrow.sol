// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order, Terms} from "../Order.sol";

/// @notice The state of an order in an escrow.
enum EscrowState {
    None,
    Opened,
    Released,
    Refunded
}

/// @notice The signatures of at least `threshold` of `attesters` over one list of orders.
struct Attestation {
    uint256 threshold;
    /// The whole set, ascending, as it was hashed into the order.
    address[] attesters;
    /// 65 bytes each, in ascending order of their signers.
    bytes[] signatures;
}

/// @notice One order to open for a wallet that pays by itself.
struct Opening {
    address wallet;
    /// The maximum of gas that this item may use, because its wallet runs its own code.
    uint256 gas;
    Terms terms;
    /// The proof for the wallet's code, see `IGeoPayer`.
    bytes proof;
}

/// @title IGeoEscrow
/// @notice Holds each order's input whole until the order is decided: released to its vault or refunded to its wallet.
interface IGeoEscrow {
    /// @notice An order was opened and its input is held.
    event Opened(bytes32 indexed orderId, address indexed wallet, Terms terms);
    /// @notice A batch could not open an order. It is only a hint, because anyone can cause it for any order.
    /// `orderState` returns whether an order is open.
    event NotOpened(bytes32 indexed orderId, bytes4 reason);
    /// @notice An order's input went to its vault. It was paid, or credited if the payment failed.
    event Released(bytes32 indexed orderId, bool paid);
    /// @notice An order's input went back to its wallet. It was paid, or credited if the payment failed.
    event Refunded(bytes32 indexed orderId, bool paid);
    /// @notice A payment failed, and its beneficiary can claim it.
    event Credited(bytes32 indexed orderId, address indexed beneficiary, address indexed token, uint256 amount);
    /// @notice A credit was paid.
    event Claimed(address indexed beneficiary, address indexed token, address to, uint256 amount);
    /// @notice A batch passed over an order that it could not decide.
    event Skipped(bytes32 indexed orderId);

    /// @notice The order was opened before.
    error AlreadyOpened(bytes32 orderId);
    /// @notice The order was never opened here, or is decided.
    error NotOpen(bytes32 orderId);
    /// @notice The deadlines are out of order, passed, or too far away.
    error InvalidDeadlines();
    /// @notice An order of nothing, for nothing, or of more than 2^128 - 1 units.
    error InvalidAmount();
    /// @notice Another amount arrived than the order names.
    error WrongAmount(uint256 expected, uint256 received);
    /// @notice The native token is taken only while an order is being opened.
    error NotOpening();
    /// @notice A same-chain order is released by its own vault, while filling it, and by no other caller.
    error NotTheVault(address caller);
    /// @notice Neither may anyone refund yet, nor is the order closed on this chain.
    error TooEarly(uint256 refundAfter);
    /// @notice The attesters given are not the ones the order names.
    error WrongAttesterSet(bytes32 expected, bytes32 given);
    /// @notice A signer is not in the set, or not in ascending order.
    error InvalidAttester(address signer);
    /// @notice Fewer signatures than the set's threshold, or a threshold of zero.
    error ThresholdNotMet(uint256 signatures, uint256 threshold);
    /// @notice There is no credit to claim.
    error NothingToClaim();
    /// @notice A claim could not be paid; the credit stays.
    error ClaimFailed();
    /// @notice The call has too little gas to show that a payment failed by itself, or to give an item of a batch all
    /// the gas that it names.
    error InsufficientGas();

    /// @notice Opens an order of the caller and takes its input, by allowance or as value.
    /// @param terms All terms that do not follow from the call itself.
    /// @return orderId The order's id.
    function open(Terms calldata terms) external payable returns (bytes32 orderId);

    /// @notice Opens an order of a wallet that pays by itself, on proof that its owner agreed. For anyone.
    /// @param wallet The wallet. Its code decides whether `proof` is valid.
    /// @param terms All terms that do not follow from the call itself.
    /// @param proof Passed to the wallet's code.
    /// @return orderId The order's id.
    function openFor(address wallet, Terms calldata terms, bytes calldata proof) external returns (bytes32 orderId);

    /// @notice Opens many; passes over those that fail. For anyone. Reverts if it cannot hand an item all its gas.
    function openMany(Opening[] calldata openings) external;

    /// @notice Pays the input to the order's origin vault. For orders that are delivered on another chain.
    function release(Order calldata order, Attestation calldata attestation) external;

    /// @notice Releases many orders on one attestation; passes over those that are not open, of another set, or
    /// delivered on this chain.
    function releaseMany(Order[] calldata orders, Attestation calldata attestation) external;

    /// @notice Releases a same-chain order. Only its destination vault may call, while filling it.
    function releaseFilled(Order calldata order) external;

    /// @notice Pays the input back to the wallet before `refundAfter`, on attestation.
    function refundEarly(Order calldata order, Attestation calldata attestation) external;

    /// @notice Refunds many orders on one attestation; passes over those that are not open or of another set.
    function refundMany(Order[] calldata orders, Attestation calldata attestation) external;

    /// @notice Pays the input back to the wallet. For anyone, after `refundAfter`, or, if the order is of this chain
    /// alone, as soon as its vault has voided it or let it expire unfilled.
    function refund(Order calldata order) external;

    /// @notice Pays a credit to its beneficiary. For anyone.
    function claim(address token, address beneficiary) external;

    /// @notice Pays the caller's own credit to another address.
    function claimTo(address token, address to) external;

    /// @notice The state of an order in this escrow.
    function orderState(bytes32 orderId) external view returns (EscrowState);

    /// @notice The id of any order, opened here or not.
    function orderIdOf(Order calldata order) external pure returns (bytes32);

    /// @notice What a beneficiary can claim of a token. The zero address is the native token.
    function credit(address token, address beneficiary) external view returns (uint256);

    /// @notice The EIP-712 digest of anything that is signed in this escrow's domain. For an order it is the order's
    /// id.
    function typedDigest(bytes32 structHash) external view returns (bytes32);

    /// @notice The EIP-712 digest that attesters sign to release these orders.
    function releaseDigest(bytes32[] calldata orderIds) external view returns (bytes32);

    /// @notice The EIP-712 digest that attesters sign to refund these orders.
    function refundDigest(bytes32[] calldata orderIds) external view returns (bytes32);
}
