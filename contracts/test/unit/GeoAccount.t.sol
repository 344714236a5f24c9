// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC1155Receiver} from "@openzeppelin/contracts/token/ERC1155/IERC1155Receiver.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {NotAnAddress, Order} from "../../src/Order.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {termsOf, typedHash, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Wallets} from "../base/Wallets.sol";
import {Token} from "../mocks/Token.sol";

contract GeoAccountTest is Wallets {
    uint256 private constant N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    uint256 private constant STRANGER_KEY = uint256(keccak256("stranger"));

    function test_anInstanceHasOneEscrowAndOneWayOrTwoToSign() public view {
        vm.assertEq(IGeoAccount(account).ESCROW(), address(escrow), "escrow");
        vm.assertEq(IGeoAccount(typedOnly).ESCROW(), address(escrow), "escrow of the other");
        vm.assertTrue(!IGeoAccount(account).TYPED_ONLY() && IGeoAccount(typedOnly).TYPED_ONLY(), "typed only");
        vm.assertEq(_mine().ESCROW(), address(escrow), "escrow of the wallet");
        vm.assertEq(_mine().mandateEpoch(), 0, "epoch");
    }

    function test_aWalletDelegatesByItsOwnSignature() public {
        uint256 key = uint256(keccak256("fresh wallet"));
        Order memory order = _order();
        order.wallet = word(vm.addr(key));
        plain.mint(vm.addr(key), order.inputAmount);
        bytes memory proof = _proof(TYPED, key, order);
        vm.signAndAttachDelegation(account, key);
        _openFor(order, proof);
        _isState(order, EscrowState.Opened);
    }

    function test_nobodyButTheEscrowIsPaid() public {
        Order memory order = _order();
        bytes memory proof = _proof(TYPED, KEY, order);
        address[4] memory callers = [stranger, wallet, address(vault), account];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IGeoAccount.OnlyEscrow.selector, callers[i]));
            vm.prank(callers[i]);
            _mine().pay(order.orderId(), termsOf(order), proof);
        }
    }

    function test_anotherEscrowIsNotPaid() public {
        IGeoEscrow second = _deployEscrow();
        Order memory order = _order();
        order.escrow = word(address(second));
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.expectRevert(abi.encodeWithSelector(IGeoAccount.OnlyEscrow.selector, address(second)));
        second.openFor(wallet, termsOf(order), proof);
    }

    /// @dev Consent rests on the terms that are paid, not on the id that the caller names for them.
    function test_theEscrowsWordForAnOrderDoesNotCount() public {
        Order memory order = _order();
        bytes memory proof = _proof(TYPED, KEY, order);
        Order memory dearer = _order();
        dearer.inputAmount += 1;
        vm.expectRevert(abi.encodeWithSelector(IGeoAccount.WrongOrder.selector, order.orderId()));
        vm.prank(address(escrow));
        _mine().pay(order.orderId(), termsOf(dearer), proof);
        // Nor does a signature of another order.
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        vm.prank(address(escrow));
        _mine().pay(dearer.orderId(), termsOf(dearer), proof);
    }

    /// @dev What a wallet has signed in the account's domain is what the escrow calls its digest, on any chain.
    function test_theAccountsDomainIsTheEscrows() public {
        uint256[4] memory chainIds = [HERE, THERE, 1337, type(uint64).max];
        for (uint256 i = 0; i < chainIds.length; ++i) {
            vm.chainId(chainIds[i]);
            Order memory order = _order();
            order.originChainId = chainIds[i];
            vm.assertEq(
                _openFor(order, _proofOf(TYPED, KEY, escrow.typedDigest(order.orderId()))), typedHash(order), "id"
            );
            bytes32 revocation = _revokeHash(wallet, uint64(i));
            _mine().revokeMandates(_proofOf(TYPED, KEY, escrow.typedDigest(revocation)));
        }
    }

    function test_aSignatureForOneChainOpensNothingOnAnother() public {
        Order memory order = _order();
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.chainId(THERE);
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        escrow.openFor(wallet, termsOf(order), proof);
        // Nor does it if the domain is of the one chain and the order of the other.
        proof = _proof(TYPED, KEY, order);
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        escrow.openFor(wallet, termsOf(order), proof);
    }

    function test_aSignatureOfOneWalletOpensNothingForAnother() public {
        Order memory order = _order();
        order.wallet = word(stranger);
        _delegate(stranger, account);
        plain.mint(stranger, order.inputAmount);
        _openForReverts(
            order, _proof(TYPED, KEY, order), abi.encodeWithSelector(IGeoAccount.WrongSigner.selector, wallet)
        );
    }

    function test_aProofThatIsShortOrOfAnotherKindIsRefused() public {
        Order memory order = _order();
        bytes memory good = _proof(TYPED, KEY, order);
        bytes memory short = new bytes(65);
        for (uint256 i = 0; i < short.length; ++i) {
            short[i] = good[i];
        }
        bytes memory invalid = abi.encodeWithSelector(IGeoAccount.InvalidProof.selector);
        _openForReverts(order, "", invalid);
        _openForReverts(order, short, invalid);
        for (uint256 kind = 2; kind < 256; ++kind) {
            good[0] = bytes1(uint8(kind));
            _openForReverts(order, good, invalid);
        }
    }

    function test_aSignatureThatIsNoneIsRefused() public {
        Order memory order = _order();
        bytes memory none = new bytes(66);
        _openForReverts(order, none, abi.encodeWithSelector(ECDSA.ECDSAInvalidSignature.selector));
        bytes memory proof = _proof(TYPED, KEY, order);
        proof[65] = 0x00;
        _openForReverts(order, proof, abi.encodeWithSelector(ECDSA.ECDSAInvalidSignature.selector));
    }

    function test_aSignatureWithAHighSIsRefused() public {
        Order memory order = _order();
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(KEY, _typedDigest(address(escrow), order.orderId()));
        bytes32 high = bytes32(N - uint256(s));
        bytes memory proof = bytes.concat(bytes1(TYPED), r, high, bytes1(v == 27 ? 28 : 27));
        _openForReverts(order, proof, abi.encodeWithSelector(ECDSA.ECDSAInvalidSignatureS.selector, high));
    }

    /// @dev What follows the owner's own signature is not read, since there is no mandate.
    function test_bytesAfterTheOwnersSignatureChangeNothing() public {
        Order memory order = _order();
        _openFor(order, bytes.concat(_proof(TYPED, KEY, order), "anything"));
        _isState(order, EscrowState.Opened);
    }

    function test_aKindThatIsChangedAfterSigningOpensNothing() public {
        for (uint8 kind = TYPED; kind <= PERSONAL; ++kind) {
            bytes memory proof = _proof(kind, KEY, _order());
            proof[0] = bytes1(kind == TYPED ? PERSONAL : TYPED);
            vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
            escrow.openFor(wallet, termsOf(_order()), proof);
        }
    }

    function test_aTypedOnlyWalletRefusesOpaqueBytesWhateverTheirKindSays() public {
        _delegate(wallet, typedOnly);
        Order memory order = _order();
        bytes memory personal = _proof(PERSONAL, KEY, order);
        _openForReverts(order, personal, abi.encodeWithSelector(IGeoAccount.Opaque.selector));
        // Passed off as a typed signature, it is the signature of some other key.
        personal[0] = bytes1(TYPED);
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        escrow.openFor(wallet, termsOf(order), personal);
        for (uint256 kind = 2; kind < 256; ++kind) {
            personal[0] = bytes1(uint8(kind));
            _openForReverts(order, personal, abi.encodeWithSelector(IGeoAccount.InvalidProof.selector));
        }
        _openFor(order, _proof(TYPED, KEY, order));
    }

    function test_aTypedOnlyWalletRefusesToRevokeOnOpaqueBytes() public {
        _delegate(wallet, typedOnly);
        bytes memory proof = _proofOf(PERSONAL, KEY, _typedDigest(address(escrow), _revokeHash(wallet, 0)));
        vm.expectRevert(IGeoAccount.Opaque.selector);
        _mine().revokeMandates(proof);
    }

    /// @dev 32 opaque bytes that a thief chose. At worst they are an order of all of one token, for the thief.
    function test_aPhishedPersonalSignatureCostsAtMostItsOrdersInput() public {
        vm.assertLe(1, other.balanceOf(wallet), "has another token");
        Order memory order = _order();
        order.inputAmount = plain.balanceOf(wallet);
        (order.originVault, order.destinationVault, order.recipient) = (word(stranger), word(stranger), word(stranger));
        order.attesterSet = keccak256("the thief's own");
        bytes memory signature = _sign(KEY, _personalDigest(_typedDigest(address(escrow), typedHash(order))));
        uint256 others = other.balanceOf(wallet) + noReturn.balanceOf(wallet) + wallet.balance;
        _openFor(order, bytes.concat(bytes1(PERSONAL), signature));

        vm.assertEq(plain.balanceOf(address(escrow)), order.inputAmount, "the order's input");
        plain.mint(wallet, order.inputAmount);
        vm.expectRevert(abi.encodeWithSelector(IGeoEscrow.AlreadyOpened.selector, order.orderId()));
        escrow.openFor(wallet, termsOf(order), bytes.concat(bytes1(PERSONAL), signature));
        Order memory next = _order();
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        escrow.openFor(wallet, termsOf(next), bytes.concat(bytes1(PERSONAL), signature));
        vm.assertEq(other.balanceOf(wallet) + noReturn.balanceOf(wallet) + wallet.balance, others, "everything else");
        vm.assertEq(_mine().mandateEpoch(), 0, "epoch");
    }

    function test_aPhishedPersonalSignatureCostsATypedOnlyWalletNothing() public {
        _delegate(wallet, typedOnly);
        Order memory order = _order();
        order.inputAmount = plain.balanceOf(wallet);
        bytes memory proof = _proof(PERSONAL, KEY, order);
        _openForReverts(order, proof, abi.encodeWithSelector(IGeoAccount.Opaque.selector));
        vm.assertEq(plain.balanceOf(address(escrow)), 0, "taken");
    }

    function test_aWalletSwitchesInstancesByDelegatingAnew() public {
        _delegate(wallet, typedOnly);
        Order memory order = _order();
        bytes memory proof = _proof(PERSONAL, KEY, order);
        _openForReverts(order, proof, abi.encodeWithSelector(IGeoAccount.Opaque.selector));
        vm.signAndAttachDelegation(account, KEY);
        _openFor(order, proof);
        _isState(order, EscrowState.Opened);
    }

    function test_anEscrowThatDoesNotTakeTheNativeTokenIsNotPaid() public {
        address refuser = address(new Refuser());
        _delegate(wallet, _deployAccount(IGeoEscrow(refuser), false));
        Order memory order = _order();
        order.escrow = word(refuser);
        order.inputToken = 0;
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.expectRevert(IGeoAccount.PaymentFailed.selector);
        vm.prank(refuser);
        _mine().pay(order.orderId(), termsOf(order), proof);
    }

    /// @dev The escrow refuses these terms before it calls; the account does not rely on that.
    function test_aTokenThatIsNoAddressIsNotPaid() public {
        Order memory order = _order();
        order.inputToken = bytes32(uint256(order.inputToken) | (1 << 160));
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.expectRevert(abi.encodeWithSelector(NotAnAddress.selector, order.inputToken));
        vm.prank(address(escrow));
        _mine().pay(order.orderId(), termsOf(order), proof);
    }

    function test_aTokenThatReturnsFalseIsNotPaid() public {
        Order memory order = _order();
        order.inputToken = word(address(blocking));
        blocking.setBlocked(address(escrow), true);
        blocking.setQuiet(true);
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.expectRevert(abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(blocking)));
        vm.prank(address(escrow));
        _mine().pay(order.orderId(), termsOf(order), proof);
    }

    /// @dev So nothing is left behind that a later delegate could read otherwise than it was meant.
    function test_anOrderOfTheOwnersUsesNoStorageOfTheWallet() public {
        Order memory order = _order();
        bytes memory proof = _proof(TYPED, KEY, order);
        vm.record();
        _openFor(order, proof);
        (bytes32[] memory reads, bytes32[] memory writes) = vm.accesses(wallet);
        vm.assertEq(reads.length + writes.length, 0, "slots");
    }

    function test_theDelegateItselfIsNobodysWallet() public {
        Order memory order = _order();
        order.wallet = word(account);
        plain.mint(account, order.inputAmount);
        _openForReverts(
            order, _proof(TYPED, KEY, order), abi.encodeWithSelector(IGeoAccount.WrongSigner.selector, wallet)
        );
    }

    function test_aSignatureOfTheWalletsKeyIsValidForContracts() public view {
        bytes32 hash = keccak256("a permit");
        bytes4 answer = _mine().isValidSignature(hash, _sign(KEY, hash));
        vm.assertEq(bytes32(answer), bytes32(IERC1271.isValidSignature.selector), "magic value");
    }

    function test_anyOtherSignatureIsInvalidForContracts() public view {
        bytes32 hash = keccak256("a permit");
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(KEY, hash);
        bytes[7] memory signatures = [
            _sign(STRANGER_KEY, hash),
            _sign(AGENT_KEY, hash),
            _sign(KEY, _personalDigest(hash)),
            bytes(""),
            new bytes(65),
            bytes.concat(_sign(KEY, hash), hex"00"),
            bytes.concat(r, bytes32(N - uint256(s)), bytes1(v == 27 ? 28 : 27))
        ];
        for (uint256 i = 0; i < signatures.length; ++i) {
            bytes4 answer = _mine().isValidSignature(hash, signatures[i]);
            vm.assertEq(bytes32(answer), bytes32(bytes4(0xffffffff)), "accepted");
        }
        bytes4 ofDelegate = IGeoAccount(account).isValidSignature(hash, _sign(KEY, hash));
        vm.assertEq(bytes32(ofDelegate), bytes32(bytes4(0xffffffff)), "of the delegate itself");
    }

    /// @dev With the creation code of the real Permit2. It calls `isValidSignature` of a wallet that has code.
    function test_aPermit2PermitOfADelegatedWalletStillVerifies() public {
        string memory path = "node_modules/hardhat-predeploy/bin/0x000000000022D473030F116dDEE9F6B43aC78BA3.bytecode";
        bytes memory code = vm.readFileBinary(path);
        IPermit2 permit2;
        assembly ("memory-safe") {
            permit2 := create(0, add(code, 0x20), mload(code))
        }
        vm.prank(wallet);
        plain.approve(address(permit2), type(uint256).max);
        IPermit2.PermitTransferFrom memory permit =
            IPermit2.PermitTransferFrom(IPermit2.TokenPermissions(address(plain), 10), 7, NOW);
        IPermit2.SignatureTransferDetails memory details = IPermit2.SignatureTransferDetails(stranger, 10);
        bytes32 hash = _permitDigest(permit2, permit);
        bytes memory forged = _sign(STRANGER_KEY, hash);
        bytes memory signature = _sign(KEY, hash);

        vm.expectRevert(IPermit2.InvalidContractSignature.selector);
        permit2.permitTransferFrom(permit, details, wallet, forged);
        permit2.permitTransferFrom(permit, details, wallet, signature);
        vm.assertEq(plain.balanceOf(stranger), 10, "sent");
    }

    function test_theWalletStillReceivesWhatItCouldBefore() public {
        uint256 before = wallet.balance;
        vm.deal(address(this), 3);
        (bool bare,) = wallet.call{value: 1, gas: 50_000}("");
        (bool withNote,) = wallet.call{value: 2, gas: 50_000}("a payment with a note");
        vm.assertTrue(bare && withNote, "native token");
        vm.assertEq(wallet.balance - before, 3, "balance");
        bytes4 answer = IERC721Receiver(wallet).onERC721Received(address(0), address(0), 0, "");
        vm.assertEq(bytes32(answer), bytes32(IERC721Receiver.onERC721Received.selector), "ERC-721");
        IERC1155Receiver holder = IERC1155Receiver(wallet);
        answer = holder.onERC1155Received(address(0), address(0), 0, 0, "");
        vm.assertEq(bytes32(answer), bytes32(IERC1155Receiver.onERC1155Received.selector), "ERC-1155");
        answer = holder.onERC1155BatchReceived(address(0), address(0), new uint256[](0), new uint256[](0), "");
        vm.assertEq(bytes32(answer), bytes32(IERC1155Receiver.onERC1155BatchReceived.selector), "ERC-1155 batch");
        vm.assertTrue(holder.supportsInterface(type(IERC1155Receiver).interfaceId), "ERC-165");
    }

    /// @dev Calls that other wallets execute, and calls of a token, move nothing.
    function test_aCallThatTheAccountDoesNotKnowDoesNothing() public {
        bytes[3] memory calls = [
            abi.encodeCall(Token.transfer, (stranger, 1)),
            abi.encodeWithSignature("execute(bytes32,bytes)", bytes32(uint256(1) << 248), "calls"),
            abi.encodeWithSignature("initialize(address)", stranger)
        ];
        uint256 before = plain.balanceOf(wallet) + wallet.balance;
        for (uint256 i = 0; i < calls.length; ++i) {
            for (uint256 caller = 0; caller < 3; ++caller) {
                vm.prank([stranger, wallet, address(escrow)][caller]);
                (bool ok, bytes memory answer) = wallet.call(calls[i]);
                vm.assertTrue(ok && answer.length == 0, "answered");
            }
        }
        vm.assertEq(plain.balanceOf(wallet) + wallet.balance, before, "moved");
    }

    function _permitDigest(IPermit2 permit2, IPermit2.PermitTransferFrom memory permit) private view returns (bytes32) {
        bytes32 token =
            keccak256(abi.encode(keccak256("TokenPermissions(address token,uint256 amount)"), permit.permitted));
        bytes32 hash = keccak256(
            abi.encode(
                keccak256(
                    "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)"
                ),
                token,
                address(this),
                permit.nonce,
                permit.deadline
            )
        );
        return keccak256(bytes.concat(hex"1901", permit2.DOMAIN_SEPARATOR(), hash));
    }
}

interface IPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    error InvalidContractSignature();

    function DOMAIN_SEPARATOR() external view returns (bytes32);
    function permitTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata details,
        address owner,
        bytes calldata signature
    ) external;
}

/// @dev Takes no native token.
contract Refuser {}
