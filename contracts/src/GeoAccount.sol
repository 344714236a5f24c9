// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Account} from "@openzeppelin/contracts/account/Account.sol";
import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignerEIP7702} from "@openzeppelin/contracts/utils/cryptography/signers/SignerEIP7702.sol";

/// @title GeoAccount
/// @notice What a wallet delegates to (EIP-7702). The wallet's own key stays its only signer.
/// @dev Stateless and without an initializer: there is nothing to set up, to front-run or to collide with the storage
/// of an earlier delegate. Only the EntryPoint, with a signed user operation, and the wallet itself can execute.
contract GeoAccount is Account, SignerEIP7702, ERC7821, ERC721Holder, ERC1155Holder, IERC1271 {
    /// @notice Whether the wallet's key signed `hash`.
    /// @dev Plain ECDSA, as for a wallet without code: a Permit2 permit still verifies. The account is its own signer,
    /// so no second account exists on which such a signature could be replayed.
    /// @param hash The hash that was signed.
    /// @param signature 65 bytes, low s, v 27 or 28.
    /// @return magicValue The ERC-1271 selector, or 0xffffffff.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4 magicValue) {
        return _rawSignatureValidation(hash, signature) ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    /// @notice Takes any call and does nothing, as a wallet without code does: a payment with a note arrives.
    fallback() external payable {}

    /// @dev Wallets sign the op's hash with `personal_sign`, which every wallet offers.
    function _signableUserOpHash(PackedUserOperation calldata, bytes32 userOpHash)
        internal
        pure
        override
        returns (bytes32)
    {
        return MessageHashUtils.toEthSignedMessageHash(userOpHash);
    }

    /// @dev The EntryPoint calls only after `validateUserOp` accepted the wallet's signature.
    function _erc7821AuthorizedExecutor(address caller, bytes32 mode, bytes calldata executionData)
        internal
        view
        override
        returns (bool)
    {
        return caller == address(entryPoint()) || super._erc7821AuthorizedExecutor(caller, mode, executionData);
    }
}
