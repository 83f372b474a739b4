#include "import/onnx/signature.h"

// Written by tools/write_signatures.py from the schemas of onnx 1.23.2; do not edit.
namespace lapilli::onnx {
namespace {

constexpr std::string_view table = R"(domain
Abs 1 1-1 1-1 consumed_inputs:I
Abs 6 1-1 1-1
Acos 7 1-1 1-1
Acosh 9 1-1 1-1
Add 1 2-2 1-1 axis:i broadcast:b consumed_inputs:I
Add 6 2-2 1-1 axis:i broadcast:b
Add 7 2-2 1-1
AffineGrid 20 2-2 1-1 align_corners:b
And 1 2-2 1-1 axis:i broadcast:b
And 7 2-2 1-1
ArgMax 1 1-1 1-1 axis:i keepdims:b
ArgMax 12 1-1 1-1 axis:i keepdims:b select_last_index:b
ArgMin 1 1-1 1-1 axis:i keepdims:b
ArgMin 12 1-1 1-1 axis:i keepdims:b select_last_index:b
Asin 7 1-1 1-1
Asinh 9 1-1 1-1
Atan 7 1-1 1-1
Atanh 9 1-1 1-1
Attention 23 3-6 1-4 is_causal:b kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f
 softmax_precision:d
Attention 24 3-7 1-4 is_causal:b kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f
 softmax_precision:d
Attention 25 3-7 1-4 is_causal:b kv_num_heads:i left_window_size:i q_num_heads:i qk_matmul_output_mode:i
 right_window_size:i scale:f softcap:f softmax_precision:d
AveragePool 1 1-1 1-1 auto_pad:s kernel_shape:I! pads:I strides:I
AveragePool 7 1-1 1-1 auto_pad:s count_include_pad:b kernel_shape:I! pads:I strides:I
AveragePool 10 1-1 1-1 auto_pad:s ceil_mode:b count_include_pad:b kernel_shape:I! pads:I strides:I
AveragePool 19 1-1 1-1 auto_pad:s ceil_mode:b count_include_pad:b dilations:I kernel_shape:I! pads:I strides:I
BatchNormalization 1 5-5 1-5 consumed_inputs:I epsilon:e is_test:b momentum:f spatial:b
BatchNormalization 6 5-5 1-5 epsilon:e is_test:b momentum:f spatial:b
BatchNormalization 7 5-5 1-5 epsilon:e momentum:f spatial:b
BatchNormalization 9 5-5 1-5 epsilon:e momentum:f
BatchNormalization 14 5-5 1-3 epsilon:e momentum:f training_mode:b
Bernoulli 15 1-1 1-1 dtype:i seed:f
BitCast 26 1-1 1-1 to:i!
BitShift 11 2-2 1-1 direction:s!
BitwiseAnd 18 2-2 1-1
BitwiseNot 18 1-1 1-1
BitwiseOr 18 2-2 1-1
BitwiseXor 18 2-2 1-1
BlackmanWindow 17 1-1 1-1 output_datatype:i periodic:b
Cast 1 1-1 1-1 to:s!
Cast 6 1-1 1-1 to:i!
Cast 19 1-1 1-1 saturate:b to:i!
Cast 24 1-1 1-1 round_mode:s saturate:b to:i!
CastLike 15 2-2 1-1
CastLike 19 2-2 1-1 saturate:b
CastLike 24 2-2 1-1 round_mode:s saturate:b
CausalConvWithState 27 2-4 2-2 activation:s
Ceil 1 1-1 1-1 consumed_inputs:I
Ceil 6 1-1 1-1
Celu 12 1-1 1-1 alpha:f
CenterCropPad 18 2-2 1-1 axes:I
Clip 1 1-1 1-1 consumed_inputs:I max:f min:f
Clip 6 1-1 1-1 max:f min:f
Clip 11 1-3 1-1
Col2Im 18 3-3 1-1 dilations:I pads:I strides:I
Compress 9 2-2 1-1 axis:i
Concat 1 1- 1-1 axis:i
Concat 4 1- 1-1 axis:i!
ConcatFromSequence 11 1-1 1-1 axis:i! new_axis:b
Constant 1 0-0 1-1 value:t!
Constant 11 0-0 1-1 sparse_value:p value:t
Constant 12 0-0 1-1 sparse_value:p value:t value_float:f value_floats:F value_int:i value_ints:I
 value_string:s value_strings:S
ConstantOfShape 9 1-1 1-1 value:t
Conv 1 2-3 1-1 auto_pad:s dilations:I group:n kernel_shape:I pads:I strides:I
ConvInteger 10 2-4 1-1 auto_pad:s dilations:I group:n kernel_shape:I pads:I strides:I
ConvTranspose 1 2-3 1-1 auto_pad:s dilations:I group:n kernel_shape:I output_padding:I output_shape:I pads:I
 strides:I
Cos 7 1-1 1-1
Cosh 9 1-1 1-1
CumProd 26 2-2 1-1 exclusive:b reverse:b
CumSum 11 2-2 1-1 exclusive:b reverse:b
DFT 17 1-2 1-1 axis:i inverse:b onesided:b
DFT 20 1-3 1-1 inverse:b onesided:b
DeformConv 19 3-5 1-1 dilations:I group:n kernel_shape:I offset_group:n pads:I strides:I
DepthToSpace 1 1-1 1-1 blocksize:n!
DepthToSpace 11 1-1 1-1 blocksize:n! mode:s
DequantizeLinear 10 2-3 1-1
DequantizeLinear 13 2-3 1-1 axis:i
DequantizeLinear 21 2-3 1-1 axis:i block_size:i
DequantizeLinear 23 2-3 1-1 axis:i block_size:i output_dtype:i
Det 11 1-1 1-1
Div 1 2-2 1-1 axis:i broadcast:b consumed_inputs:I
Div 6 2-2 1-1 axis:i broadcast:b
Div 7 2-2 1-1
Dropout 1 1-1 1-2 consumed_inputs:I is_test:b ratio:f
Dropout 6 1-1 1-2 is_test:b ratio:f
Dropout 7 1-1 1-2 ratio:f
Dropout 12 1-3 1-2 seed:i
DynamicQuantizeLinear 11 1-1 3-3
Einsum 12 1- 1-1 equation:s!
Elu 1 1-1 1-1 alpha:f consumed_inputs:I
Elu 6 1-1 1-1 alpha:f
Equal 1 2-2 1-1 axis:i broadcast:b
Equal 7 2-2 1-1
Erf 9 1-1 1-1
Exp 1 1-1 1-1 consumed_inputs:I
Exp 6 1-1 1-1
Expand 8 2-2 1-1
EyeLike 9 1-1 1-1 dtype:i k:i
Flatten 1 1-1 1-1 axis:i
Floor 1 1-1 1-1 consumed_inputs:I
Floor 6 1-1 1-1
GRU 1 3-6 2-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
 output_sequence:b
GRU 3 3-6 0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
 linear_before_reset:b output_sequence:b
GRU 7 3-6 0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
 linear_before_reset:b
GRU 14 3-6 0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n layout:b
 linear_before_reset:b
Gather 1 2-2 1-1 axis:i
GatherElements 11 2-2 1-1 axis:i
GatherND 11 2-2 1-1
GatherND 12 2-2 1-1 batch_dims:i
Gelu 20 1-1 1-1 approximate:s
Gemm 1 3-3 1-1 alpha:f beta:f broadcast:b transA:b transB:b
Gemm 7 3-3 1-1 alpha:f beta:f transA:b transB:b
Gemm 11 2-3 1-1 alpha:f beta:f transA:b transB:b
GlobalAveragePool 1 1-1 1-1
GlobalLpPool 1 1-1 1-1 p:f
GlobalLpPool 2 1-1 1-1 p:n
GlobalMaxPool 1 1-1 1-1
Greater 1 2-2 1-1 axis:i broadcast:b
Greater 7 2-2 1-1
GreaterOrEqual 12 2-2 1-1
GridSample 16 2-2 1-1 align_corners:b mode:s padding_mode:s
GroupNormalization 18 3-3 1-1 epsilon:e num_groups:n!
GroupNormalization 21 3-3 1-1 epsilon:e num_groups:n! stash_type:d
HammingWindow 17 1-1 1-1 output_datatype:i periodic:b
HannWindow 17 1-1 1-1 output_datatype:i periodic:b
HardSigmoid 1 1-1 1-1 alpha:f beta:f consumed_inputs:I
HardSigmoid 6 1-1 1-1 alpha:f beta:f
HardSwish 14 1-1 1-1
Hardmax 1 1-1 1-1 axis:i
Identity 1 1-1 1-1
If 1 1-1 1- else_branch:g! then_branch:g!
ImageDecoder 20 1-1 1-1 pixel_format:s
InstanceNormalization 1 3-3 1-1 consumed_inputs:I epsilon:e
InstanceNormalization 6 3-3 1-1 epsilon:e
IsInf 10 1-1 1-1 detect_negative:b detect_positive:b
IsNaN 9 1-1 1-1
LRN 1 1-1 1-1 alpha:f beta:f bias:f size:n!
LSTM 1 3-8 0-3 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
 input_forget:b output_sequence:b
LSTM 7 3-8 0-3 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
 input_forget:b
LSTM 14 3-8 0-3 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
 input_forget:b layout:b
LayerNormalization 17 2-3 1-3 axis:i epsilon:e stash_type:d
LeakyRelu 1 1-1 1-1 alpha:f consumed_inputs:I
LeakyRelu 6 1-1 1-1 alpha:f
Less 1 2-2 1-1 axis:i broadcast:b
Less 7 2-2 1-1
LessOrEqual 12 2-2 1-1
LinearAttention 27 3-6 2-2 chunk_size:i kv_num_heads:i! q_num_heads:i! scale:f update_rule:s
Log 1 1-1 1-1 consumed_inputs:I
Log 6 1-1 1-1
LogSoftmax 1 1-1 1-1 axis:i
Loop 1 3- 1- body:g!
Loop 11 2- 1- body:g!
LpNormalization 1 1-1 1-1 axis:i p:n
LpPool 1 1-1 1-1 auto_pad:s kernel_shape:I p:f pads:I strides:I
LpPool 2 1-1 1-1 auto_pad:s kernel_shape:I! p:n pads:I strides:I
LpPool 18 1-1 1-1 auto_pad:s ceil_mode:b dilations:I kernel_shape:I! p:n pads:I strides:I
MatMul 1 2-2 1-1
MatMulInteger 10 2-4 1-1
Max 1 1- 1-1 consumed_inputs:I
Max 6 1- 1-1
MaxPool 1 1-1 1-1 auto_pad:s kernel_shape:I! pads:I strides:I
MaxPool 8 1-1 1-2 auto_pad:s kernel_shape:I! pads:I storage_order:b strides:I
MaxPool 10 1-1 1-2 auto_pad:s ceil_mode:b dilations:I kernel_shape:I! pads:I storage_order:b strides:I
MaxRoiPool 1 2-2 1-1 pooled_shape:I! spatial_scale:f
MaxUnpool 9 2-3 1-1 kernel_shape:I! pads:I strides:I
Mean 1 1- 1-1 consumed_inputs:I
Mean 6 1- 1-1
MeanVarianceNormalization 9 1-1 1-1 axes:I
MelWeightMatrix 17 5-5 1-1 output_datatype:i
Min 1 1- 1-1 consumed_inputs:I
Min 6 1- 1-1
Mish 18 1-1 1-1
Mod 10 2-2 1-1 fmod:b
Mul 1 2-2 1-1 axis:i broadcast:b consumed_inputs:I
Mul 6 2-2 1-1 axis:i broadcast:b
Mul 7 2-2 1-1
Multinomial 7 1-1 1-1 dtype:i sample_size:n seed:f
Neg 1 1-1 1-1 consumed_inputs:I
Neg 6 1-1 1-1
NegativeLogLikelihoodLoss 12 2-3 1-1 ignore_index:i reduction:s
NonMaxSuppression 10 2-5 1-1 center_point_box:b
NonZero 9 1-1 1-1
Not 1 1-1 1-1
OneHot 9 3-3 1-1 axis:i
Optional 15 0-1 1-1 type:y
OptionalGetElement 15 1-1 1-1
OptionalHasElement 15 1-1 1-1
OptionalHasElement 18 0-1 1-1
Or 1 2-2 1-1 axis:i broadcast:b
Or 7 2-2 1-1
PRelu 1 2-2 1-1 consumed_inputs:I
PRelu 6 2-2 1-1
Pad 1 1-1 1-1 mode:s paddings:I! value:f
Pad 2 1-1 1-1 mode:s pads:I! value:f
Pad 11 2-3 1-1 mode:s
Pad 18 2-4 1-1 mode:s
Pow 1 2-2 1-1 axis:i broadcast:b
Pow 7 2-2 1-1
QLinearConv 10 8-9 1-1 auto_pad:s dilations:I group:n kernel_shape:I pads:I strides:I
QLinearMatMul 10 8-8 1-1
QuantizeLinear 10 2-3 1-1
QuantizeLinear 13 2-3 1-1 axis:i
QuantizeLinear 19 2-3 1-1 axis:i saturate:b
QuantizeLinear 21 2-3 1-1 axis:i block_size:i output_dtype:i saturate:b
QuantizeLinear 23 2-3 1-1 axis:i block_size:i output_dtype:i precision:i saturate:b
RMSNormalization 23 2-2 1-1 axis:i epsilon:e stash_type:d
RNN 1 3-6 0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
 output_sequence:b
RNN 7 3-6 0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n
RNN 14 3-6 0-2 activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:n layout:b
RandomNormal 1 0-0 1-1 dtype:i mean:f scale:f seed:f shape:I!
RandomNormalLike 1 1-1 1-1 dtype:i mean:f scale:f seed:f
RandomUniform 1 0-0 1-1 dtype:i high:f low:f seed:f shape:I!
RandomUniformLike 1 1-1 1-1 dtype:i high:f low:f seed:f
Range 11 3-3 1-1
Range 27 3-3 1-1 stash_type:d
Reciprocal 1 1-1 1-1 consumed_inputs:I
Reciprocal 6 1-1 1-1
ReduceL1 1 1-1 1-1 axes:I keepdims:b
ReduceL1 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceL2 1 1-1 1-1 axes:I keepdims:b
ReduceL2 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceLogSum 1 1-1 1-1 axes:I keepdims:b
ReduceLogSum 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceLogSumExp 1 1-1 1-1 axes:I keepdims:b
ReduceLogSumExp 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceMax 1 1-1 1-1 axes:I keepdims:b
ReduceMax 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceMean 1 1-1 1-1 axes:I keepdims:b
ReduceMean 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceMin 1 1-1 1-1 axes:I keepdims:b
ReduceMin 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceProd 1 1-1 1-1 axes:I keepdims:b
ReduceProd 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceSum 1 1-1 1-1 axes:I keepdims:b
ReduceSum 13 1-2 1-1 keepdims:b noop_with_empty_axes:b
ReduceSumSquare 1 1-1 1-1 axes:I keepdims:b
ReduceSumSquare 18 1-2 1-1 keepdims:b noop_with_empty_axes:b
RegexFullMatch 20 1-1 1-1 pattern:s
Relu 1 1-1 1-1 consumed_inputs:I
Relu 6 1-1 1-1
Reshape 1 1-1 1-1 consumed_inputs:I shape:I
Reshape 5 2-2 1-1
Reshape 14 2-2 1-1 allowzero:b
Resize 10 2-2 1-1 mode:s
Resize 11 3-4 1-1 coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:b extrapolation_value:f
 mode:s nearest_mode:s
Resize 13 1-4 1-1 coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:b extrapolation_value:f
 mode:s nearest_mode:s
Resize 18 1-4 1-1 antialias:b axes:I coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:b
 extrapolation_value:f keep_aspect_ratio_policy:s mode:s nearest_mode:s
ReverseSequence 10 2-2 1-1 batch_axis:i time_axis:i
RoiAlign 10 3-3 1-1 mode:s output_height:n output_width:n sampling_ratio:i spatial_scale:f
RoiAlign 16 3-3 1-1 coordinate_transformation_mode:s mode:s output_height:n output_width:n sampling_ratio:i
 spatial_scale:f
RotaryEmbedding 23 3-4 1-1 interleaved:b num_heads:i rotary_embedding_dim:i
Round 11 1-1 1-1
STFT 17 2-4 1-1 onesided:b
Scan 8 2- 1- body:g! directions:I num_scan_inputs:n!
Scan 9 1- 1- body:g! num_scan_inputs:n! scan_input_axes:I scan_input_directions:I scan_output_axes:I
 scan_output_directions:I
Scatter 9 3-3 1-1 axis:i
ScatterElements 11 3-3 1-1 axis:i
ScatterElements 16 3-3 1-1 axis:i reduction:s
ScatterND 11 3-3 1-1
ScatterND 16 3-3 1-1 reduction:s
Selu 1 1-1 1-1 alpha:f consumed_inputs:I gamma:f
Selu 6 1-1 1-1 alpha:f gamma:f
SequenceAt 11 2-2 1-1
SequenceConstruct 11 1- 1-1
SequenceEmpty 11 0-0 1-1 dtype:i
SequenceErase 11 1-2 1-1
SequenceInsert 11 2-3 1-1
SequenceLength 11 1-1 1-1
SequenceMap 17 1- 1- body:g!
Shape 1 1-1 1-1
Shape 15 1-1 1-1 end:i start:i
Shrink 9 1-1 1-1 bias:f lambd:f
Sigmoid 1 1-1 1-1 consumed_inputs:I
Sigmoid 6 1-1 1-1
Sign 9 1-1 1-1
Sin 7 1-1 1-1
Sinh 9 1-1 1-1
Size 1 1-1 1-1
Slice 1 1-1 1-1 axes:I ends:I! starts:I!
Slice 10 3-5 1-1
Softmax 1 1-1 1-1 axis:i
SoftmaxCrossEntropyLoss 12 2-3 1-2 ignore_index:i reduction:s
Softplus 1 1-1 1-1
Softsign 1 1-1 1-1
SpaceToDepth 1 1-1 1-1 blocksize:n!
SpaceToDepth 28 1-1 1-1 blocksize:n! mode:s
Split 1 1-2 1- axis:i split:I
Split 2 1-1 1- axis:i split:I
Split 13 1-2 1- axis:i
Split 18 1-2 1- axis:i num_outputs:n
SplitToSequence 11 1-2 1-1 axis:i keepdims:b
Sqrt 1 1-1 1-1 consumed_inputs:I
Sqrt 6 1-1 1-1
Squeeze 1 1-1 1-1 axes:I
Squeeze 13 1-2 1-1
StringConcat 20 2-2 1-1
StringNormalizer 10 1-1 1-1 case_change_action:s is_case_sensitive:b locale:s stopwords:S
StringSplit 20 1-1 2-2 delimiter:s maxsplit:i
Sub 1 2-2 1-1 axis:i broadcast:b consumed_inputs:I
Sub 6 2-2 1-1 axis:i broadcast:b
Sub 7 2-2 1-1
Sum 1 1- 1-1 consumed_inputs:I
Sum 6 1- 1-1
SwiGLU 28 2-2 1-1 alpha:f
Swish 24 1-1 1-1 alpha:f
Tan 7 1-1 1-1
Tanh 1 1-1 1-1 consumed_inputs:I
Tanh 6 1-1 1-1
TensorScatter 24 2-3 1-1 axis:i mode:s
TfIdfVectorizer 9 1-1 1-1 max_gram_length:i! max_skip_count:i! min_gram_length:i! mode:s! ngram_counts:I!
 ngram_indexes:I! pool_int64s:I pool_strings:S weights:F
ThresholdedRelu 10 1-1 1-1 alpha:f
Tile 1 3-3 1-1
Tile 6 2-2 1-1
TopK 1 1-1 2-2 axis:i k:i!
TopK 10 2-2 2-2 axis:i
TopK 11 2-2 2-2 axis:i largest:b sorted:b
Transpose 1 1-1 1-1 perm:I
Trilu 14 1-2 1-1 upper:b
Unique 11 1-1 1-4 axis:i sorted:b
Unsqueeze 1 1-1 1-1 axes:I!
Unsqueeze 13 2-2 1-1
Upsample 1 1-1 1-1 height_scale:f! mode:s width_scale:f!
Upsample 7 1-1 1-1 mode:s scales:F!
Upsample 9 2-2 1-1 mode:s
Where 9 3-3 1-1
Xor 1 2-2 1-1 axis:i broadcast:b
Xor 7 2-2 1-1
domain ai.onnx.ml
ArrayFeatureExtractor 1 2-2 1-1
Binarizer 1 1-1 1-1 threshold:f
CastMap 1 1-1 1-1 cast_to:s map_form:s max_map:i
CategoryMapper 1 1-1 1-1 cats_int64s:I cats_strings:S default_int64:i default_string:s
DictVectorizer 1 1-1 1-1 int64_vocabulary:I string_vocabulary:S
FeatureVectorizer 1 1- 1-1 inputdimensions:I
Imputer 1 1-1 1-1 imputed_value_floats:F imputed_value_int64s:I replaced_value_float:f replaced_value_int64:i
LabelEncoder 1 1-1 1-1 classes_strings:S default_int64:i default_string:s
LabelEncoder 2 1-1 1-1 default_float:f default_int64:i default_string:s keys_floats:F keys_int64s:I
 keys_strings:S values_floats:F values_int64s:I values_strings:S
LabelEncoder 4 1-1 1-1 default_float:f default_int64:i default_string:s default_tensor:t keys_floats:F
 keys_int64s:I keys_strings:S keys_tensor:t values_floats:F values_int64s:I values_strings:S values_tensor:t
LinearClassifier 1 1-1 2-2 classlabels_ints:I classlabels_strings:S coefficients:F! intercepts:F multi_class:b
 post_transform:s
LinearRegressor 1 1-1 1-1 coefficients:F intercepts:F post_transform:s targets:i
Normalizer 1 1-1 1-1 norm:s
OneHotEncoder 1 1-1 1-1 cats_int64s:I cats_strings:S zeros:b
SVMClassifier 1 1-1 2-2 classlabels_ints:I classlabels_strings:S coefficients:F kernel_params:F kernel_type:s
 post_transform:s prob_a:F prob_b:F rho:F support_vectors:F vectors_per_class:I
SVMRegressor 1 1-1 1-1 coefficients:F kernel_params:F kernel_type:s n_supports:i one_class:b post_transform:s
 rho:F support_vectors:F
Scaler 1 1-1 1-1 offset:F scale:F
TreeEnsemble 5 1-1 1-1 aggregate_function:i leaf_targetids:I! leaf_weights:t! membership_values:t n_targets:i
 nodes_falseleafs:I! nodes_falsenodeids:I! nodes_featureids:I! nodes_hitrates:t
 nodes_missing_value_tracks_true:I nodes_modes:t! nodes_splits:t! nodes_trueleafs:I! nodes_truenodeids:I!
 post_transform:i tree_roots:I!
TreeEnsembleClassifier 1 1-1 2-2 base_values:F class_ids:I class_nodeids:I class_treeids:I class_weights:F
 classlabels_int64s:I classlabels_strings:S nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F
 nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I
 nodes_values:F post_transform:s
TreeEnsembleClassifier 3 1-1 2-2 base_values:F base_values_as_tensor:t class_ids:I class_nodeids:I
 class_treeids:I class_weights:F class_weights_as_tensor:t classlabels_int64s:I classlabels_strings:S
 nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t
 nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I
 nodes_values:F nodes_values_as_tensor:t post_transform:s
TreeEnsembleRegressor 1 1-1 1-1 aggregate_function:s base_values:F n_targets:i nodes_falsenodeids:I
 nodes_featureids:I nodes_hitrates:F nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I
 nodes_treeids:I nodes_truenodeids:I nodes_values:F post_transform:s target_ids:I target_nodeids:I
 target_treeids:I target_weights:F
TreeEnsembleRegressor 3 1-1 1-1 aggregate_function:s base_values:F base_values_as_tensor:t n_targets:i
 nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t
 nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I
 nodes_values:F nodes_values_as_tensor:t post_transform:s target_ids:I target_nodeids:I target_treeids:I
 target_weights:F target_weights_as_tensor:t
ZipMap 1 1-1 1-1 classlabels_int64s:I classlabels_strings:S
domain ai.onnx.preview
FlexAttention 1 3-3 1-1 prob_mod:g scale:f score_mod:g softmax_precision:d
domain ai.onnx.preview.training
Adagrad 1 3- 1- decay_factor:f epsilon:e norm_coefficient:f
Adam 1 3- 1- alpha:f beta:f epsilon:e norm_coefficient:f norm_coefficient_post:f
Gradient 1 1- 1- xs:S! y:s! zs:S
Momentum 1 3- 1- alpha:f! beta:f! mode:s! norm_coefficient:f!
domain com.microsoft
MatMulNBits 1 3-6 1-1 K:i! N:i! accuracy_level:i bits:i block_size:i! weight_prepacked:i
)";

}  // namespace

std::string_view signature_table() { return table; }

}  // namespace lapilli::onnx
