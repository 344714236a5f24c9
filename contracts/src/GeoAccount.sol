// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {usedNow} from "./Cap.sol";
import {Mandate} from "./Mandate.sol";
import {Terms, orderOf, toAddress, toWord} from "./Order.sol";
import {IGeoAccount} from "./interfaces/IGeoAccount.sol";
import {IGeoPayer} from "./interfaces/IGeoPayer.sol";

/// @title GeoAccount
/// @notice The delegate of a wallet (EIP-7702). Its only function is to pay one escrow for orders that the wallet's key
/// signed, or that an agent's key signed within a mandate of the wallet.
/// @dev There is no initializer and no call that executes anything else, so there is nothing to set up, to front-run or
/// to trick the wallet into. Storage is used for mandates alone, in a separate namespace (ERC-7201), so that it does
/// not collide with that of an earlier delegate.
contract GeoAccount is IGeoAccount, ERC721Holder, ERC1155Holder {
    using SafeERC20 for IERC20;

    /// @dev What was used of one mandate's cap on one token.
    struct Spent {
        uint128 used;
        uint64 updatedAt;
    }

    /// @custom:storage-location erc7201:geoswap.account
    struct AccountStorage {
        uint64 epoch;
        mapping(bytes32 mandateHash => mapping(address token => Spent)) spent;
    }

    /// @dev The first byte of a proof, which is how the order was signed.
    uint8 private constant TYPED = 0;
    uint8 private constant PERSONAL = 1;
    /// @dev The length of a proof without a mandate, which is the kind and a signature.
    uint256 private constant SIGNATURE_END = 66;

    /// @dev Each entry of a mandate's lists costs gas when an order is opened.
    uint256 private constant MAX_ENTRIES = 16;
    /// @dev Solana, as cross-chain services number it. No key of Solana's fits into an EVM address.
    uint256 private constant SOLANA_CHAIN_ID = 792_703_809;

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant REVOKE_TYPEHASH = keccak256("RevokeMandates(address wallet,uint64 epoch)");
    bytes32 private constant STORAGE_SLOT =
        keccak256(abi.encode(uint256(keccak256("geoswap.account")) - 1)) & ~bytes32(uint256(0xff));

    /// @inheritdoc IGeoAccount
    address public immutable ESCROW;
    /// @inheritdoc IGeoAccount
    bool public immutable TYPED_ONLY;

    /// @param escrow The one contract that this account pays.
    /// @param typedOnly Whether a `personal_sign` of an order's digest is refused.
    constructor(address escrow, bool typedOnly) {
        ESCROW = escrow;
        TYPED_ONLY = typedOnly;
    }

    /// @notice Takes the native token.
    receive() external payable {}

    /// @notice Takes any call and does nothing, as a wallet without code does, so that a payment with a note arrives.
    fallback() external payable {}

    /// @inheritdoc IGeoPayer
    /// @param proof The kind, 0 for typed data or 1 for `personal_sign` of its digest, and a 65-byte signature. After an
    /// agent's signature follows `abi.encode(Mandate, bytes ownerSignature)`; the owner's signature is typed.
    function pay(bytes32 orderId, Terms calldata terms, bytes calldata proof) external {
        if (msg.sender != ESCROW) revert OnlyEscrow(msg.sender);
        // Computed here from the payment itself, so that consent does not rest on another contract's statement of what
        // was signed.
        bytes32 ownId = orderOf(terms, address(this), ESCROW).orderId();
        if (ownId != orderId) revert WrongOrder(orderId);
        address signer = _signer(_digest(ownId), proof);
        if (signer != address(this)) _useMandate(signer, terms, proof[SIGNATURE_END:]);
        address token = toAddress(terms.inputToken);
        if (token != address(0)) return IERC20(token).safeTransfer(msg.sender, terms.inputAmount);
        (bool paid,) = msg.sender.call{value: terms.inputAmount}("");
        if (!paid) revert PaymentFailed();
    }

    /// @inheritdoc IGeoAccount
    function revokeMandates(bytes calldata proof) external {
        AccountStorage storage state = _storage();
        uint64 epoch = state.epoch;
        if (msg.sender != address(this)) {
            address signer = _signer(_digest(keccak256(abi.encode(REVOKE_TYPEHASH, address(this), epoch))), proof);
            if (signer != address(this)) revert WrongSigner(signer);
        }
        state.epoch = epoch + 1;
        emit MandatesRevoked(epoch + 1);
    }

    /// @inheritdoc IGeoAccount
    function mandateEpoch() external view returns (uint64) {
        return _storage().epoch;
    }

    /// @notice Whether the wallet's key signed `hash`.
    /// @dev Plain ECDSA, as for a wallet without code, so that a Permit2 permit still verifies. The account is its own
    /// signer, so no second account exists on which such a signature could be replayed.
    /// @param hash The hash that was signed.
    /// @param signature 65 bytes, low s, v 27 or 28.
    /// @return magicValue The ERC-1271 selector, or 0xffffffff.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4 magicValue) {
        (address signer, ECDSA.RecoverError problem,) = ECDSA.tryRecoverCalldata(hash, signature);
        bool isValid = problem == ECDSA.RecoverError.NoError && signer == address(this);
        return isValid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    /// @dev In the escrow's domain, because wallets refuse typed data whose verifying contract is one of their own
    /// accounts.
    function _digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain =
            keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("Geoswap"), keccak256("1"), block.chainid, ESCROW));
        return MessageHashUtils.toTypedDataHash(domain, structHash);
    }

    function _signer(bytes32 digest, bytes calldata proof) private view returns (address) {
        if (proof.length < SIGNATURE_END || uint8(proof[0]) > PERSONAL) revert InvalidProof();
        if (uint8(proof[0]) != TYPED) {
            if (TYPED_ONLY) revert Opaque();
            digest = MessageHashUtils.toEthSignedMessageHash(digest);
        }
        return ECDSA.recoverCalldata(digest, proof[1:SIGNATURE_END]);
    }

    /// @dev Checks that an agent's order is within its mandate, and counts it.
    function _useMandate(address agent, Terms calldata terms, bytes calldata data) private {
        if (data.length == 0) revert WrongSigner(agent);
        (Mandate memory mandate, bytes memory signature) = abi.decode(data, (Mandate, bytes));
        bytes32 mandateHash = mandate.mandateHash();
        address owner = ECDSA.recover(_digest(mandateHash), signature);
        if (owner != address(this)) revert WrongSigner(owner);
        if (mandate.agent != agent) revert WrongSigner(agent);
        if (block.timestamp >= mandate.expiry) revert MandateExpired(mandate.expiry);
        AccountStorage storage state = _storage();
        if (mandate.wallet != address(this) || mandate.epoch != state.epoch || !_allows(mandate, terms)) {
            revert OutsideMandate();
        }
        address token = toAddress(terms.inputToken);
        uint256 maxAmount = _maxAmount(mandate, token);
        Spent storage spent = state.spent[mandateHash][token];
        uint256 used = usedNow(spent.used, spent.updatedAt, maxAmount, mandate.period);
        if (used + terms.inputAmount > maxAmount) revert MandateExceeded(terms.inputAmount, maxAmount - used);
        // At most `maxAmount`, which has 128 bits.
        // forge-lint: disable-next-line(unsafe-typecast)
        spent.used = uint128(used + terms.inputAmount);
        spent.updatedAt = uint64(block.timestamp);
    }

    /// @dev Only through the desk that the owner named. Within one chain that desk's own vault must deliver, because
    /// another contract could have the input released without a delivery.
    function _allows(Mandate memory mandate, Terms calldata terms) private view returns (bool) {
        if (
            mandate.period == 0 || mandate.inputs.length > MAX_ENTRIES || mandate.outputs.length > MAX_ENTRIES
                || mandate.recipients.length > MAX_ENTRIES
        ) return false;
        if (terms.originVault != toWord(mandate.originVault) || terms.attesterSet != mandate.attesterSet) return false;
        if (terms.destinationChainId == block.chainid && terms.destinationVault != terms.originVault) return false;
        bool isOutput = mandate.outputs.length == 0;
        for (uint256 i = 0; i < mandate.outputs.length && !isOutput; ++i) {
            isOutput =
                mandate.outputs[i].chainId == terms.destinationChainId && mandate.outputs[i].token == terms.outputToken;
        }
        // On Solana no key belongs to the wallet's address, so that an output to it would be lost.
        bool isRecipient = terms.recipient == toWord(address(this)) && terms.destinationChainId != SOLANA_CHAIN_ID;
        for (uint256 i = 0; i < mandate.recipients.length && !isRecipient; ++i) {
            isRecipient = mandate.recipients[i] == terms.recipient;
        }
        return isOutput && isRecipient;
    }

    function _maxAmount(Mandate memory mandate, address token) private pure returns (uint256) {
        for (uint256 i = 0; i < mandate.inputs.length; ++i) {
            if (mandate.inputs[i].token == token) return mandate.inputs[i].maxAmount;
        }
        revert OutsideMandate();
    }

    function _storage() private pure returns (AccountStorage storage state) {
        bytes32 slot = STORAGE_SLOT;
        assembly ("memory-safe") {
            state.slot := slot
        }
    }
}
