// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Account as ERC4337Account} from "@openzeppelin/contracts/account/Account.sol";
import {ERC7579Utils} from "@openzeppelin/contracts/account/utils/draft-ERC7579Utils.sol";
import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {IERC1155Receiver} from "@openzeppelin/contracts/token/ERC1155/IERC1155Receiver.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {Errors} from "@openzeppelin/contracts/utils/Errors.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {vm} from "../base/Vm.sol";
import {World} from "../base/World.sol";
import {Token} from "../mocks/Token.sol";

interface IWallet is IERC1271 {
    function execute(bytes32 mode, bytes calldata executionData) external payable;
    function supportsExecutionMode(bytes32 mode) external view returns (bool);
    function entryPoint() external view returns (address);
    function getNonce() external view returns (uint256);
    function getNonce(uint192 key) external view returns (uint256);
    function validateUserOp(PackedUserOperation calldata op, bytes32 hash, uint256 missing) external returns (uint256);
}

struct Call {
    address target;
    uint256 value;
    bytes data;
}

/// @dev With the canonical EntryPoint, against which the account is compiled.
contract GeoAccountTest is World {
    address private constant ENTRY_POINT = 0x433709009B8330FDa32311DF1C2AFA402eD8D009;
    address private constant SENDER_CREATOR = 0x0A630a99Df908A81115A3022927Be82f9299987e;
    /// @dev ERC-7821: a batch, which reverts as a whole.
    bytes32 private constant BATCH = bytes32(uint256(1) << 248);
    uint256 private constant KEY = uint256(keccak256("wallet"));
    uint256 private constant N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    IWallet private wallet;
    Token private token;
    address private delegate;
    address private relayer = _actor("relayer");

    function setUp() public {
        vm.etch(ENTRY_POINT, _predeployed("0x433709009B8330FDa32311DF1C2AFA402eD8D009"));
        vm.etch(SENDER_CREATOR, _predeployed("0x0A630a99Df908A81115A3022927Be82f9299987e"));
        delegate = _deployAccount();
        wallet = IWallet(vm.addr(KEY));
        vm.etch(address(wallet), abi.encodePacked(hex"ef0100", delegate));
        token = new Token();
        token.mint(address(wallet), 100);
    }

    function test_theEntryPointIsTheCanonicalOne() public view {
        vm.assertEq(wallet.entryPoint(), ENTRY_POINT, "entry point");
        vm.assertEq(wallet.getNonce(), 0, "nonce");
        vm.assertEq(wallet.getNonce(7), 7 << 64, "nonce of a key");
    }

    function test_aWalletDelegatesByItsOwnSignature() public {
        uint256 key = uint256(keccak256("fresh wallet"));
        token.mint(vm.addr(key), 100);
        vm.signAndAttachDelegation(delegate, key);
        vm.prank(vm.addr(key));
        IWallet(vm.addr(key)).execute(BATCH, _transfer(1));
        vm.assertEq(token.balanceOf(stranger), 1, "sent");
    }

    function test_theWalletItselfExecutes() public {
        vm.prank(address(wallet));
        wallet.execute(BATCH, _transfer(3));
        vm.assertEq(token.balanceOf(stranger), 3, "sent");
    }

    function test_nobodyElseExecutes() public {
        vm.expectRevert(abi.encodeWithSelector(ERC4337Account.AccountUnauthorized.selector, stranger));
        vm.prank(stranger);
        wallet.execute(BATCH, _transfer(3));
    }

    function test_theDelegateItselfIsNobodysWallet() public {
        vm.expectRevert(abi.encodeWithSelector(ERC4337Account.AccountUnauthorized.selector, address(wallet)));
        vm.prank(address(wallet));
        IWallet(delegate).execute(BATCH, _transfer(3));
    }

    function test_onlyTheEntryPointValidates() public {
        PackedUserOperation memory op = _op(1);
        vm.expectRevert(abi.encodeWithSelector(ERC4337Account.AccountUnauthorized.selector, address(this)));
        wallet.validateUserOp(op, 0, 0);
    }

    function test_onlyBatchesThatRevertAsAWholeAreExecuted() public {
        vm.assertTrue(wallet.supportsExecutionMode(BATCH), "batch");
        bytes32[3] memory modes = [bytes32(0), bytes32(uint256(0x0101) << 240), BATCH | bytes32(uint256(1) << 200)];
        for (uint256 i = 0; i < modes.length; ++i) {
            vm.assertTrue(!wallet.supportsExecutionMode(modes[i]), "another mode");
            vm.expectRevert(ERC7821.UnsupportedExecutionMode.selector);
            vm.prank(address(wallet));
            wallet.execute(modes[i], _transfer(3));
        }
    }

    function test_aCallThatFailsUndoesTheBatch() public {
        Call[] memory calls = new Call[](2);
        calls[0] = Call(address(token), 0, abi.encodeCall(token.transfer, (stranger, 3)));
        calls[1] = Call(address(token), 0, abi.encodeCall(token.transfer, (stranger, 1000)));
        vm.expectRevert(Token.InsufficientBalance.selector);
        vm.prank(address(wallet));
        wallet.execute(BATCH, abi.encode(calls));
        vm.assertEq(token.balanceOf(stranger), 0, "sent");
    }

    function test_aCallThatFailsWithoutAReasonUndoesTheBatchToo() public {
        Call[] memory calls = new Call[](1);
        calls[0] = Call(address(token), 0, "no such function");
        vm.expectRevert(Errors.FailedCall.selector);
        vm.prank(address(wallet));
        wallet.execute(BATCH, abi.encode(calls));
    }

    function test_aBatchThatIsNoneIsRefused() public {
        vm.expectRevert(ERC7579Utils.ERC7579DecodingError.selector);
        vm.prank(address(wallet));
        wallet.execute(BATCH, hex"1234");
    }

    function test_anOpSignedByPersonalSignIsExecuted() public {
        PackedUserOperation memory op = _op(5);
        op.signature = _sign(MessageHashUtils.toEthSignedMessageHash(_hash(op)));
        _handle(op);
        vm.assertEq(token.balanceOf(stranger), 5, "sent");
    }

    /// @dev A wallet that signs raw hashes signs anything: only what it showed to its owner counts.
    function test_anOpSignedAsARawHashIsRefused() public {
        PackedUserOperation memory op = _op(5);
        op.signature = _sign(_hash(op));
        vm.expectRevert(abi.encodeWithSelector(IEntryPoint.FailedOp.selector, 0, "AA24 signature error"));
        _handle(op);
    }

    function test_anOpSignedByAnotherIsRefused() public {
        PackedUserOperation memory op = _op(5);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(uint256(keccak256("stranger")), MessageHashUtils.toEthSignedMessageHash(_hash(op)));
        op.signature = abi.encodePacked(r, s, v);
        vm.expectRevert(abi.encodeWithSelector(IEntryPoint.FailedOp.selector, 0, "AA24 signature error"));
        _handle(op);
    }

    function test_anOpSignedHighIsRefused() public {
        PackedUserOperation memory op = _op(5);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(KEY, MessageHashUtils.toEthSignedMessageHash(_hash(op)));
        op.signature = abi.encodePacked(r, bytes32(N - uint256(s)), v == 27 ? uint8(28) : uint8(27));
        vm.expectRevert(abi.encodeWithSelector(IEntryPoint.FailedOp.selector, 0, "AA24 signature error"));
        _handle(op);
    }

    function test_anOpIsExecutedOnce() public {
        PackedUserOperation memory op = _op(5);
        op.signature = _sign(MessageHashUtils.toEthSignedMessageHash(_hash(op)));
        _handle(op);
        vm.expectRevert(abi.encodeWithSelector(IEntryPoint.FailedOp.selector, 0, "AA25 invalid account nonce"));
        _handle(op);
    }

    function test_aMissingPrefundIsPaidToTheEntryPoint() public {
        vm.deal(address(wallet), 10);
        PackedUserOperation memory op = _op(5);
        bytes32 hash = _hash(op);
        op.signature = _sign(MessageHashUtils.toEthSignedMessageHash(hash));
        vm.prank(ENTRY_POINT);
        vm.assertEq(wallet.validateUserOp(op, hash, 4), 0, "validation data");
        vm.assertEq(address(wallet).balance, 6, "balance");
    }

    function test_aSignatureOfTheWalletsKeyIsValidForContracts() public view {
        bytes32 hash = keccak256("a permit");
        bytes4 answer = wallet.isValidSignature(hash, _sign(hash));
        vm.assertEq(bytes32(answer), bytes32(IERC1271.isValidSignature.selector), "magic value");
    }

    function test_anyOtherSignatureIsInvalidForContracts() public view {
        bytes32 hash = keccak256("a permit");
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(uint256(keccak256("stranger")), hash);
        bytes[4] memory signatures =
            [abi.encodePacked(r, s, v), _sign(MessageHashUtils.toEthSignedMessageHash(hash)), bytes(""), new bytes(65)];
        for (uint256 i = 0; i < signatures.length; ++i) {
            bytes4 answer = wallet.isValidSignature(hash, signatures[i]);
            vm.assertEq(bytes32(answer), bytes32(bytes4(0xffffffff)), "accepted");
        }
    }

    function test_theWalletStillReceivesWhatItCouldBefore() public {
        vm.deal(address(this), 3);
        (bool bare,) = address(wallet).call{value: 1, gas: 50_000}("");
        (bool withNote,) = address(wallet).call{value: 2, gas: 50_000}("a payment with a note");
        vm.assertTrue(bare && withNote, "native token");
        vm.assertEq(address(wallet).balance, 3, "balance");
        bytes4 answer = IERC721Receiver(address(wallet)).onERC721Received(address(0), address(0), 0, "");
        vm.assertEq(bytes32(answer), bytes32(IERC721Receiver.onERC721Received.selector), "ERC-721");
        IERC1155Receiver holder = IERC1155Receiver(address(wallet));
        answer = holder.onERC1155Received(address(0), address(0), 0, 0, "");
        vm.assertEq(bytes32(answer), bytes32(IERC1155Receiver.onERC1155Received.selector), "ERC-1155");
        answer = holder.onERC1155BatchReceived(address(0), address(0), new uint256[](0), new uint256[](0), "");
        vm.assertEq(bytes32(answer), bytes32(IERC1155Receiver.onERC1155BatchReceived.selector), "ERC-1155 batch");
        vm.assertTrue(holder.supportsInterface(type(IERC1155Receiver).interfaceId), "ERC-165");
    }

    /// @dev Sponsored: no fee, so the wallet needs no gas token. The key of the nonce is a swap's.
    function _op(uint256 amount) private view returns (PackedUserOperation memory op) {
        op.sender = address(wallet);
        op.nonce = 7 << 64;
        op.callData = abi.encodeCall(IWallet.execute, (BATCH, _transfer(amount)));
        op.accountGasLimits = bytes32((uint256(200_000) << 128) | 200_000);
        op.preVerificationGas = 50_000;
    }

    function _hash(PackedUserOperation memory op) private view returns (bytes32) {
        (bool ok, bytes memory answer) = ENTRY_POINT.staticcall(
            abi.encodeWithSignature(
                "getUserOpHash((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes))", op
            )
        );
        vm.assertTrue(ok, "hash");
        return abi.decode(answer, (bytes32));
    }

    function _handle(PackedUserOperation memory op) private {
        PackedUserOperation[] memory ops = new PackedUserOperation[](1);
        ops[0] = op;
        vm.prank(relayer, relayer);
        IEntryPoint(ENTRY_POINT).handleOps(ops, payable(relayer));
    }

    function _sign(bytes32 hash) private pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(KEY, hash);
        return abi.encodePacked(r, s, v);
    }

    function _transfer(uint256 amount) private view returns (bytes memory) {
        Call[] memory calls = new Call[](1);
        calls[0] = Call(address(token), 0, abi.encodeCall(token.transfer, (stranger, amount)));
        return abi.encode(calls);
    }

    function _predeployed(string memory name) private view returns (bytes memory) {
        return vm.readFileBinary(string.concat("node_modules/hardhat-predeploy/bin/", name, ".bytecode"));
    }
}
