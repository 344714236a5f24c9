// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IGeoPayer} from "./IGeoPayer.sol";

/// @title IGeoAccount
/// @notice The code of a wallet. It pays one escrow for orders that the wallet's owner, or an agent within a mandate,
/// signed.
interface IGeoAccount is IGeoPayer, IERC1271 {
    /// @notice All mandates that were signed so far on this chain have ended; a new one must name `epoch`.
    event MandatesRevoked(uint64 epoch);

    /// @notice Only the escrow is paid.
    error OnlyEscrow(address caller);
    /// @notice The terms are of another order than the id.
    error WrongOrder(bytes32 orderId);
    /// @notice The proof is too short, or of a kind that this account does not support.
    error InvalidProof();
    /// @notice The order was signed as 32 opaque bytes, which this account refuses.
    error Opaque();
    /// @notice Neither the wallet's key nor the mandate's agent signed.
    error WrongSigner(address signer);
    /// @notice The mandate is no longer good.
    error MandateExpired(uint256 expiry);
    /// @notice The mandate is of another wallet or epoch, or does not allow the order's desk, tokens or recipient.
    error OutsideMandate();
    /// @notice The mandate's cap on the input token leaves less than the order's input.
    error MandateExceeded(uint256 asked, uint256 available);
    /// @notice The escrow did not take the native token.
    error PaymentFailed();

    /// @notice The only contract that this account pays.
    function ESCROW() external view returns (address);

    /// @notice Whether this account refuses orders that were signed as 32 opaque bytes.
    function TYPED_ONLY() external view returns (bool);

    /// @notice Ends all mandates that were signed so far on this chain. For the wallet itself, or anyone with its
    /// signature over `RevokeMandates(address wallet,uint64 epoch)` of the current epoch.
    /// @param proof The kind and the signature, as for `pay`. Not read if the wallet itself calls.
    function revokeMandates(bytes calldata proof) external;

    /// @notice The epoch that a mandate of this wallet must name on this chain.
    function mandateEpoch() external view returns (uint64);
}
